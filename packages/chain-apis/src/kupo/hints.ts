/** A request that Kupo refuses. Its body is `{ hint, details }`. */
export class KupoError extends Error {
  override readonly name = 'KupoError'
  readonly expose = true

  constructor(
    message: string,
    readonly statusCode: 400 | 404 = 400,
    readonly details?: unknown,
  ) {
    super(message)
  }
}

/** Advice about each part of a request that can be wrong. */
export const hints = {
  pattern:
    'Invalid pattern! Use *, an address, a stake address, credentials (payment/delegation), an asset ' +
    '(policy.name) or an output (index@transaction). * stands for any part.',
  indexOnlyPattern:
    'Invalid query pattern! A metadata label selects what Kupo stores, and cannot select matches.',
  slotRange:
    'Invalid slot range! Bounds are absolute slots or points (slot.header-hash): at most one of ' +
    'created_after and spent_after, and one of created_before and spent_before.',
  statusFlag:
    'Invalid filter! Use either ?spent or ?unspent, once and without a value, or neither for all matches.',
  referenceFlag: 'Invalid flag! ?resolve_hashes has no value; it adds datums and scripts to matches.',
  matchFilter:
    'Invalid filter! Use policy_id, alone or with asset_name, or transaction_id, alone or with ' +
    'output_index; each once. Hashes and names are in base16, indices are whole numbers.',
  order: 'Invalid order! Use order=most_recent_first or order=oldest_first, once.',
  metadataFilter: 'Invalid filter! Metadata can be filtered by one transaction_id, in base16.',
  strict: 'Invalid query! This endpoint knows the flag ?strict only, without a value.',
  slot: 'Invalid slot! It is an absolute slot: a whole number.',
  noBlock: 'No block is at this slot or later. If the slot is a recent one, its block may have been undone.',
  openBlock:
    'The block is open and has more than 10,000 transactions. Name one by ?transaction_id, or wait until ' +
    'the block is closed.',
  datumHash: 'Invalid datum hash! It is 64 characters in base16.',
  scriptHash: 'Invalid script hash! It is 56 characters in base16.',
  unknownPoint:
    'The point is unknown. Use one of this chain: a recent one may have been undone by a roll-back.',
  parameters: 'Too many query parameters.',
  endpoint:
    'Endpoint not found. The endpoints are /matches, /datums, /scripts, /metadata, /patterns, ' +
    '/checkpoints, /health and /metrics.',
  method: 'Unsupported method! This index is read-only and always has all outputs: use GET.',
  accept: "Unsupported content type in 'Accept'! Use application/json or text/plain.",
  unexpected: 'Unexpected server error.',
} as const
