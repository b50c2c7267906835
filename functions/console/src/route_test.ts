import assert from "node:assert/strict";
import { test } from "node:test";
import { matchPath, parseAddress, withChoices } from "./route";

test("a fragment has a path and a query", () => {
  const { path, query } = parseAddress("#/tasks/1/runs?show=all&name=a%20b");
  assert.equal(path, "/tasks/1/runs");
  assert.deepEqual(
    [...query],
    [
      ["show", "all"],
      ["name", "a b"],
    ],
  );
  assert.equal(parseAddress("").path, "/");
  assert.equal(parseAddress("#").path, "/");
  assert.equal(parseAddress("#?show=open").query.get("show"), "open");
});

test("a path matches a pattern part by part", () => {
  assert.deepEqual(matchPath("/", "/"), {});
  assert.deepEqual(matchPath("/tasks/new", "/tasks/new"), {});
  assert.deepEqual(matchPath("/tasks/:taskId/runs", "/tasks/7/runs"), { taskId: "7" });
  assert.deepEqual(matchPath("/tasks/:taskId/registrations/:registrationId", "/tasks/7/registrations/8"), {
    taskId: "7",
    registrationId: "8",
  });
  assert.equal(matchPath("/tasks/:taskId", "/tasks/"), undefined);
  assert.equal(matchPath("/tasks/:taskId", "/tasks/7/runs"), undefined);
  assert.equal(matchPath("/tasks/:taskId", "/runs/7"), undefined);
});

test("choices replace those of the query, and remove it when none is left", () => {
  const query = new URLSearchParams("show=all&name=x");
  assert.equal(withChoices("#/?show=all&name=x", query, { show: "open" }), "#/?show=open&name=x");
  assert.equal(withChoices("#/runs?show=all&name=x", query, { show: undefined, name: "" }), "#/runs");
  assert.equal(withChoices("#/runs", new URLSearchParams(), { task: "1 2" }), "#/runs?task=1+2");
  assert.equal(query.get("show"), "all");
});
