/** The new name of a setting, and the factor by which its values grew. */
interface Renamed {
  readonly name: string
  readonly factor?: number
}

/** Names of settings in version 0.1. This version still reads them; the next one will not. */
const renamed: Readonly<Record<string, Renamed>> = {
  DOCS: { name: 'SERVE_DOCS' },
  EVALUATE: { name: 'SERVE_EVALUATE' },
  EVENTS: { name: 'SERVE_EVENTS' },
  FAUCET_COOLDOWN_SECONDS: { name: 'FAUCET_COOLDOWN_MS', factor: 1000 },
  LAYER2_APIS: { name: 'SERVE_LAYER2_APIS' },
  PROOFS: { name: 'SERVE_PROOFS' },
  TX_STATUS: { name: 'SERVE_TX_STATUS' },
}

/** An environment without old names, and what to tell the operator. */
export interface CurrentNames {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Replaces the old names of settings by the current ones. */
export function withCurrentNames(given: Readonly<Record<string, string | undefined>>): CurrentNames {
  const environment = { ...given }
  const problems: string[] = []
  const warnings: string[] = []
  for (const [old, { name, factor }] of Object.entries(renamed)) {
    const value = given[old]
    if (value === undefined || value === '') continue
    if (given[name]) {
      problems.push(`${old} and ${name} are both set: ${old} is the old name. Set only ${name}.`)
      continue
    }
    environment[name] = factor !== undefined && /^\d+$/.test(value) ? String(factor * Number(value)) : value
    const change = factor === undefined ? '' : ` to ${environment[name]}`
    warnings.push(`${old} is an old name that the next version ignores: set ${name}${change} instead.`)
  }
  return { environment, problems, warnings }
}
