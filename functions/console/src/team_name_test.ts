import assert from "node:assert/strict";
import { test } from "node:test";
import { teamName } from "./team_name";

test("the alias of an anonymous team distinguishes it from another team of the name", () => {
  assert.equal(teamName({ team: "Blue" }), "Blue");
  assert.equal(teamName({ team: "Blue", alias: "anonymous-7" }), "Blue (alias anonymous-7)");
});

test("a registration that is not anonymous has an alias that nobody sees", () => {
  assert.equal(teamName({ team: "Blue", alias: "anonymous-7", anonymous: false }), "Blue");
  assert.equal(teamName({ team: "Blue", alias: "anonymous-7", anonymous: true }), "Blue (alias anonymous-7)");
});

test("a team without its user, or one that others see by its alias, has one name", () => {
  assert.equal(teamName({ team: "anonymous-7", alias: "anonymous-7" }), "anonymous-7");
  assert.equal(teamName({ team: "anonymous-7" }), "anonymous-7");
});
