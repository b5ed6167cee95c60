/** What errors with one remedy mean. Texts are Markdown. */
interface ErrorHelp {
  /** `PACKAGE_*` stands for every code of a package that no other entry names. */
  readonly codes: readonly string[]
  readonly meaning: string
  readonly remedy: string
}

/** Errors of one subject. */
export interface ErrorGroup {
  readonly title: string
  readonly errors: readonly ErrorHelp[]
}
