import assert from "node:assert/strict";
import { test } from "node:test";
import { said } from "./value_words";

test("no id is shown whole", () => {
  assert.equal(said(["01JZ3V7Q0D8T5RZ0S6R1W9C4XK"]), "…W9C4XK");
});
