const page = 'https://github.com/ratatosk-l2/ratatosk/blob/main/docs/errors.md'

/** The first words of our codes. */
const ours = new Set(
  [
    'ADDRESS ARCHIVIST BLOCK BRIDGE CBOR CLI CLIENT CONTRACTS COOLDOWN DATABASE DEAD DEPLETED DEVNET',
    'DISABLED EFFECTS EVALUATE EVALUATOR EVENTS EXPLORER FAUCET FOLLOWER FRAUD HEALTH HTTP INDEX INTERNAL IP',
    'LAYER1 LEDGER NODE OPERATOR OPERATORS OVERLOADED PLUTUS PROOFS PROTOCOL PROVER QUEUE ROOTS SEQUENCER',
    'SETTLER STORE SUBMIT SUMMONS TRIE TX VALIDATION WALLET WATCHER WORKERS',
  ].flatMap((line) => line.split(' ')),
)

/** Codes that share one entry, under their first word. */
const grouped = [
  /^(?:BLOCK|CBOR|CLI|CLIENT|EFFECTS|FRAUD|PLUTUS)_/,
  /^ADDRESS_(?!(?:INVALID|NETWORK_MISMATCH|NO_PAYMENT_CREDENTIAL|SCRIPT)$)/,
  /^DEVNET_(?!CLOSED$)/,
  /^TRIE_(?!STORE_)/,
]

/** The entry of docs/errors.md for a caught value or a log line; undefined if it is not ours. */
export function helpOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('code' in value)) return undefined
  const { code } = value
  if (typeof code !== 'string' || !/^[A-Z0-9_]+$/.test(code)) return undefined
  const [word = ''] = code.split('_')
  return ours.has(word) ? `${page}#${grouped.some((pattern) => pattern.test(code)) ? word : code}` : undefined
}
