import type { RedeemerPurpose } from '@ratatosk/ledger'

/** The names of redeemer purposes in Ogmios 5 and 6. */
const purposes: Readonly<Record<string, RedeemerPurpose>> = {
  spend: 'spend',
  mint: 'mint',
  certificate: 'cert',
  publish: 'cert',
  withdrawal: 'reward',
  withdraw: 'reward',
  vote: 'vote',
  propose: 'propose',
}

/** @throws TypeError on an unknown name */
export function purposeOf(name: unknown): RedeemerPurpose {
  const purpose = typeof name === 'string' && Object.hasOwn(purposes, name) ? purposes[name] : undefined
  if (purpose === undefined) throw new TypeError('a redeemer of unknown purpose')
  return purpose
}
