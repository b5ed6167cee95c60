import { toHex } from '@ratatosk/cbor'
import type { OutputReference } from '@ratatosk/ledger'
import type { Draw } from '../draw.js'
import { anyScript } from '../witness/honest-blocks.js'
import { native } from '../witness/story.js'
import type { Plutus } from '../witness/witnessed.js'
import { hashOfLock, isPlutus, type Lock, type Native, plutusScripts, signers } from './scripts.js'

/** Quantities by policy and name, in hex and joined. */
export type Tokens = ReadonlyMap<string, bigint>

export interface OutputPlan {
  readonly lock: Lock
  readonly lovelace: bigint
  readonly tokens: Tokens
  readonly datum?: { readonly bytes: Uint8Array; readonly inline: boolean }
  readonly reference?: Plutus | Native
  /** It is paid to the bridge, and not to the lock. */
  readonly leaves?: boolean
}

export interface Held {
  readonly reference: OutputReference
  readonly plan: OutputPlan
}

export const names = ['', '676f6c64', '00'.repeat(32), 'ff'.repeat(24)]

/** The sources from which a block draws its transactions. */
export interface World {
  readonly draw: Draw
  readonly natives: readonly Native[]
  /** By policy id in hex. */
  readonly policies: ReadonlyMap<string, Plutus | Native>
}

export function openWorld(draw: Draw): World {
  const natives = Array.from({ length: 5 }, (): Native => {
    const key = signers[draw(signers.length)]!
    const own = native.signature(key.hash)
    const other = anyScript(draw, 2, signers)
    const shapes = [
      own,
      native.any(other, own),
      native.all(own, native.any(native.all(), other)),
      native.atLeast(1, other, own, anyScript(draw, 1, signers)),
      native.all(native.atLeast(-1 - draw(9), other), own),
    ]
    return { language: 'native', bytes: shapes[draw(shapes.length)]!, key }
  })
  const policies = new Map(
    [...natives, ...plutusScripts].map((script) => [toHex(hashOfLock(script)), script] as const),
  )
  return { draw, natives, policies }
}

export const anyOf = <T>(items: readonly T[], draw: Draw): T => items[draw(items.length)] as T

export function drawTokens({ draw, policies }: World): Tokens {
  const tokens = new Map<string, bigint>()
  for (let count = draw(4); count > 0; count--)
    tokens.set(anyOf([...policies.keys()], draw) + anyOf(names, draw), BigInt(1 + draw(2 ** 31)))
  return tokens
}

/** @param isPlain for scripts of Plutus V1, which see no inline datums and no reference scripts */
export function drawOutput(world: World, lovelace: bigint, tokens: Tokens, isPlain: boolean): OutputPlan {
  const { draw, natives } = world
  const kind = draw(4)
  const lock = anyOf<Lock>(kind < 2 ? signers : kind === 2 ? natives : plutusScripts, draw)
  const bytes = anyOf(
    [
      Uint8Array.of(0x18, 0x2a),
      Uint8Array.of(0x83, 1, 0x41, 7, 0xa0),
      Uint8Array.of(0xd8, 0x79, 0x9f, 5, 0xff),
    ],
    draw,
  )
  const takesInline = !isPlain && !(isPlutus(lock) && lock.language === 'PlutusV1')
  const isNeeded = isPlutus(lock) && lock.language !== 'PlutusV3'
  const datum = isNeeded || draw(4) === 0 ? { bytes, inline: takesInline && draw(2) === 0 } : undefined
  const reference =
    isPlain || draw(4) > 0 ? undefined : anyOf<Plutus | Native>([...plutusScripts, ...natives], draw)
  return { lock, lovelace, tokens, ...(datum && { datum }), ...(reference && { reference }) }
}
