/** One contact's cells by column; columns that are missing are empty. */
export type Cells = ReadonlyMap<string, string>;
