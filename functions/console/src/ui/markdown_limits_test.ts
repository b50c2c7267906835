import assert from "node:assert/strict";
import { test } from "node:test";
import { tooComplex } from "./markdown_limits";

test("texts that people write are not too complex", () => {
  assert.equal(tooComplex(""), false);
  assert.equal(tooComplex("# Task\n\n* one\n* two\n\n> said\n\n[a](https://example.org) and **b**"), false);
  assert.equal(tooComplex("- ".repeat(200)), false); // a rule
  assert.equal(tooComplex("**a**\n\n".repeat(400)), false);
});

test("a block with more than 500 marks is too complex", () => {
  assert.equal(tooComplex("[".repeat(500)), false);
  assert.equal(tooComplex("[".repeat(501)), true);
  assert.equal(tooComplex("*a".repeat(501)), true);
});

test("brackets of all blocks count where links are defined", () => {
  assert.equal(tooComplex("[a]\n\n".repeat(501)), false);
  assert.equal(tooComplex(`${"[a]\n\n".repeat(501)}[a]: b`), true);
});

test("more than eight quotations and lists in each other are too complex", () => {
  assert.equal(tooComplex(`${">".repeat(8)} a`), false);
  assert.equal(tooComplex(`${">".repeat(9)} a`), true);
  assert.equal(tooComplex(`${"- ".repeat(9)}a`), true);
  assert.equal(tooComplex(`${"1. ".repeat(9)}a`), true);
});
