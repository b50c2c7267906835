import assert from "node:assert/strict";
import { test } from "node:test";
import { replaced } from "./parts";

test("a page is replaced if it names another script", () => {
  const page = '<script type="module" src="/console/main-AAAA1111.js"></script>';
  assert.equal(replaced(page, "https://assay.example/console/main-AAAA1111.js"), false);
  assert.equal(replaced(page, "https://assay.example/console/main-BBBB2222.js"), true);
});
