import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem, problemOf, toProblem } from "./problem";

test("an answer with a problem document is that problem", () => {
  const document = { title: "Not found", detail: "There is no such run.", type: "urn:assay:problem:not-found" };
  const problem = problemOf(document, 404);
  assert.equal(problem.message, "There is no such run.");
  assert.equal(problem.is("not-found"), true);
  assert.equal(problem.is("found"), false);
});

test("the message of a problem has the words of the browser", () => {
  const parts = [
    { type: "text" as const, value: "Make another with " },
    { type: "operation" as const, value: "POST /v1/user/tokens", operation: "createToken" },
  ];
  const { message } = new Problem({ title: "", detail: "Make another with POST /v1/user/tokens", parts });
  assert.equal(message, "Make another with “Make an access token” on the page under your name");
});

test("any other answer is a problem with its status", () => {
  for (const body of ["<html>", undefined, null, {}]) {
    assert.equal(problemOf(body, 502).document.status, 502);
    assert.equal(problemOf(body, 502).message, "The server answered 502. Try again later.");
  }
});

test("every error is a problem, and a problem stays the same one", () => {
  const problem = new Problem({ title: "a", detail: "b" });
  assert.equal(toProblem(problem), problem);
  assert.equal(toProblem(new Error("broken")).document.detail, "broken");
  assert.equal(toProblem("odd").document.detail, "odd");
});
