/** What is sent to test a model. */
import { Type as t } from "@sinclair/typebox";
import { compileChecker, Text } from "../../http/schemas/schema.ts";

export const testModelBody = compileChecker(() =>
  t.Object(
    { model: Text({ maxLength: 200, description: "One that the server offers.", examples: ["gpt-6-luna"] }) },
    { $id: "TestModel" },
  ),
);
