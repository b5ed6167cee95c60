/** Settings of version 0.1 with their new names. This version reads the old names; the next one does not. */
const renamed: Readonly<Record<string, string>> = {
  DOCS: 'SERVE_DOCS',
  EVALUATE: 'SERVE_EVALUATE',
  EVENTS: 'SERVE_EVENTS',
  LAYER2_APIS: 'SERVE_LAYER2_APIS',
  PROOFS: 'SERVE_PROOFS',
  TX_STATUS: 'SERVE_TX_STATUS',
}

/** An environment without old names, and what to tell the operator. */
interface CurrentNames {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Replaces the old names of settings by the current ones. */
export function withCurrentNames(given: Readonly<Record<string, string | undefined>>): CurrentNames {
  const environment = { ...given }
  const problems: string[] = []
  const warnings: string[] = []
  for (const [old, name] of Object.entries(renamed)) {
    const value = given[old]
    if (value === undefined || value === '') continue
    if (given[name]) {
      problems.push(`${old} and ${name} are both set: ${old} is the old name. Set only ${name}.`)
      continue
    }
    environment[name] = value
    warnings.push(`${old} is an old name that the next version ignores: set ${name} instead.`)
  }
  return { environment, problems, warnings }
}
