import assert from "node:assert/strict";
import { test } from "node:test";
import { filled, member, mergeChanges, mergePatch, same, within, withMember } from "./values";

test("a path leads to a member, and sets it in a copy", () => {
  const values = { name: "a", submissions: { perDay: 3 } };
  assert.equal(member(values, "submissions/perDay"), 3);
  assert.equal(member(values, "submissions/total"), undefined);
  assert.equal(member(values, "name/perDay"), undefined);
  assert.deepEqual(withMember(values, "submissions/total", 9), { name: "a", submissions: { perDay: 3, total: 9 } });
  assert.deepEqual(withMember(values, "terms/text", "x"), { ...values, terms: { text: "x" } });
  assert.deepEqual(withMember({ columns: [{ key: "a" }, { key: "b" }] }, "columns/1/title", "B"), {
    columns: [{ key: "a" }, { key: "b", title: "B" }],
  });
  assert.deepEqual(values, { name: "a", submissions: { perDay: 3 } });
});

test("a fault is within its member and those around it", () => {
  const fault = { pointer: "/evaluator/measures/0", detail: "" };
  assert.equal(within(fault, "evaluator/measures"), true);
  assert.equal(within(fault, "evaluator"), true);
  assert.equal(within(fault, "evaluator/measure"), false);
});

test("missing equals null", () => {
  assert.equal(same(undefined, null), true);
  assert.equal(same([1, { a: 2 }], [1, { a: 2 }]), true);
  assert.equal(same("", null), false);
});

test("the order of members and members without values do not count", () => {
  const base = { name: "a", runFormat: { kind: "csv", idField: "id", valueField: "label" } };
  const back = { runFormat: { idField: "id", valueField: "label", separator: undefined, kind: "csv" }, name: "a" };
  assert.equal(same(base, back), true);
  assert.deepEqual(mergePatch(base, back), {});
  assert.equal(same({ name: "a" }, { name: "a", submissions: { perDay: undefined } }), true);
  assert.equal(same({ labels: [] }, {}), false);
  assert.equal(same({ labels: ["a", "b"] }, { labels: ["b", "a"] }), false);
});

test("a merge patch has what changed, and null for what went", () => {
  const patch = mergePatch(
    { name: "a", website: "w", list: [1], rules: { perDay: 1, total: 2 } },
    { name: "a", website: "", list: [1, 2], rules: { perDay: 1 }, note: "n" },
  );
  assert.deepEqual(patch, { website: null, list: [1, 2], rules: { total: null }, note: "n" });
  assert.deepEqual(mergePatch({ rules: { a: 1 } }, { rules: { a: 1 } }), {});
});

test("a draft leaves out what is not filled in", () => {
  const values = { name: "a", text: "", none: null, zero: 0, off: false, rules: { perDay: undefined }, list: [] };
  assert.deepEqual(filled(values), { name: "a", zero: 0, off: false, list: [] });
});

test("changes of others join edits of other members", () => {
  const base = { name: "a", rules: { perDay: 1, total: 5 } };
  const mine = { name: "b", rules: { perDay: 1, total: 6 } };
  const now = { name: "a", rules: { perDay: 2, total: 5 }, website: "w" };
  assert.deepEqual(mergeChanges(mine, base, now), {
    values: { name: "b", rules: { perDay: 2, total: 6 }, website: "w" },
    conflicts: {},
  });
});

test("different edits of one member are a conflict, and equal ones none", () => {
  const base = { name: "a", rules: { total: 5 } };
  const mine = { name: "b", rules: { total: 6 } };
  const now = { name: "c", rules: { total: 6 } };
  assert.deepEqual(mergeChanges(mine, base, now), { values: mine, conflicts: { name: "c" } });
});
