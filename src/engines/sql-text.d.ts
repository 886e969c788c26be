/** Migrations are imported as text, so that the executable contains them. */
declare module "*.sql" {
  const text: string;
  export default text;
}
