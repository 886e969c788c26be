/** Files of the web build, embedded in the executable: the import is the path to read. */
declare module "*.embedded" {
  const path: string;
  export default path;
}
