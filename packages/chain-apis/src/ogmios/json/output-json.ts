import { toHex } from '@ratatosk/cbor'
import type {
  Assets,
  NativeScript,
  OutputReference,
  RedeemerPurpose,
  Script,
  TransactionOutput,
  Value,
} from '@ratatosk/ledger'
import { addressText } from '../../view/address-text.js'

/** Redeemer purposes as Ogmios names them. */
export const purposes = {
  spend: 'spend',
  mint: 'mint',
  cert: 'publish',
  reward: 'withdraw',
  vote: 'vote',
  propose: 'propose',
} as const satisfies Readonly<Record<RedeemerPurpose, string>>

export function lovelaceJson(lovelace: bigint) {
  return { ada: { lovelace } }
}

export function valueJson({ lovelace, assets }: Value) {
  return { ...lovelaceJson(lovelace), ...assetsJson(assets) }
}

export function assetsJson(assets: Assets): { [policy: string]: { [name: string]: bigint } } {
  return Object.fromEntries(Array.from(assets, ([policy, names]) => [policy, Object.fromEntries(names)]))
}

export function outputJson({ address, value, datum, referenceScript }: TransactionOutput) {
  return {
    address: addressText(address),
    value: valueJson(value),
    ...(datum.kind === 'hash' && { datumHash: toHex(datum.hash) }),
    ...(datum.kind === 'inline' && { datum: toHex(datum.data) }),
    ...(referenceScript && { script: scriptJson(referenceScript) }),
  }
}

/** @param reference an output reference, as `<64 hex digits>#<index>` or decoded */
export function referenceJson(reference: string | OutputReference) {
  if (typeof reference !== 'string') {
    return { transaction: { id: toHex(reference.transactionId) }, index: reference.index }
  }
  const [id = '', index] = reference.split('#')
  return { transaction: { id }, index: Number(index) }
}

/** Plutus's languages as Ogmios names them. */
export const plutusLanguages = {
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

export function scriptJson(script: Script) {
  const cbor = toHex(script.bytes)
  if (script.language === 'native') {
    return { language: 'native' as const, json: nativeJson(script.script), cbor }
  }
  return { language: plutusLanguages[script.language], cbor }
}

function nativeJson(script: NativeScript): unknown {
  switch (script.kind) {
    case 'signature':
      return { clause: 'signature', from: toHex(script.keyHash) }
    case 'all':
    case 'any':
      return { clause: script.kind, from: script.scripts.map(nativeJson) }
    case 'at-least':
      return { clause: 'some', atLeast: script.required, from: script.scripts.map(nativeJson) }
    case 'invalid-before':
      return { clause: 'after', slot: script.slot }
    case 'invalid-hereafter':
      return { clause: 'before', slot: script.slot }
  }
}
