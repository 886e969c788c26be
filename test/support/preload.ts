/** Loaded before every test file: a rejection or exception that nobody awaited fails the run instead of passing unseen. */
process.on("unhandledRejection", (reason) => {
  console.error("unhandled rejection in a test:", reason);
  process.exitCode = 1;
});
