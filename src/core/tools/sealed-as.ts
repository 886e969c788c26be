/** What secrets of a tool are sealed as. */
export const sealedAs = {
  secret: (toolId: string) => `tool secret ${toolId}`,
  headers: (toolId: string) => `tool headers ${toolId}`,
};
