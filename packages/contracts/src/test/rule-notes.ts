/** The text of `RULES.md` about a rule. */
export interface RuleNote {
  readonly rule: string
  readonly condition: string
  /** The attack or mistake that it prevents. */
  readonly stops: string
}

export const note = (rule: string, condition: string, stops: string): RuleNote => ({
  rule,
  condition,
  stops,
})

/** The rules of `outputRules(name, …)`, for an output that `RULES.md` calls `output`. */
export const outputNotes = (
  name: string,
  output: string,
  expected: {
    readonly address: string
    readonly addressStops?: string
    readonly tokens: string
    readonly tokensStops?: string
    readonly datum: string
    readonly datumStops: string
  },
): RuleNote[] => [
  note(
    `${name}-address`,
    `${output} is at ${expected.address}`,
    expected.addressStops ??
      'moving it out of reach of the rules, or to an address with a foreign staking part',
  ),
  note(
    `${name}-tokens`,
    `${output} holds ${expected.tokens}, and no other token`,
    expected.tokensStops ?? 'losing the token, and foreign tokens that make the output too large to spend',
  ),
  note(`${name}-datum`, `its inline datum is ${expected.datum}`, expected.datumStops),
  note(
    `${name}-no-script`,
    'it has no reference script',
    'making every later transaction pay for reading a large script',
  ),
]

export const leastAda = (name: string, condition: string, stops: string): RuleNote =>
  note(`${name}-ada`, condition, stops)

export const continuingNotes = (
  name: string,
  element: string,
  datum: string,
  datumStops: string,
): RuleNote[] => [
  ...outputNotes(name, `output 0 (${element}, paid back)`, {
    address: 'the address it was spent from, byte for byte',
    tokens: 'the tokens it held',
    datum,
    datumStops,
  }),
]
