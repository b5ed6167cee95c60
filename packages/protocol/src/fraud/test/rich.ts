import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256, scriptHash } from '@ratatosk/ledger'
import { keys } from '../../test/protocol-scene.js'
import { coin } from './theft.js'

/** A number below `count`, at random. */
type Draw = (count: number) => number
/** Changes a part of a transaction before it is signed. */
type Change = (part: RichPart, bytes: Uint8Array) => Uint8Array
export type RichPart = 'body' | 'witness set' | 'auxiliary data' | 'datum' | 'script' | 'pointer' | 'rest'

const hash = keys.payment.hash
const native = concatBytes(fromHex('8200581c'), hash)
const policy = scriptHash('native', native)

const item = (write: (writer: CborWriter) => CborWriter): Uint8Array => write(new CborWriter(4096)).toBytes()
const string = (bytes: Uint8Array) => item((writer) => writer.bytes(bytes))
const uint = (value: number | bigint) => item((writer) => writer.uint(value))
const encoded = (bytes: Uint8Array) => concatBytes(fromHex('d818'), string(bytes))
const list = (items: readonly Uint8Array[]) =>
  concatBytes(
    item((writer) => writer.array(items.length)),
    ...items,
  )
const map = (entries: readonly (readonly [Uint8Array, Uint8Array])[]) =>
  concatBytes(
    item((writer) => writer.map(entries.length)),
    ...entries.flat(),
  )

/** Data of this many items. */
const dataOf = (items: number) => list(Array.from({ length: items }, (_, at) => uint(at % 24)))

/** A signed transaction of two 5-ada outputs with nearly all that layer 2 takes; valid unless changed. */
export function richTransaction(draw: Draw, first: number, change: Change): Uint8Array {
  const isThere = () => draw(2) === 0
  const mints = isThere()
  const data = change('auxiliary data', map([[uint(1), list([string(hash), fromHex('6161'), uint(7)])]]))
  const hasData = isThere()
  const address = string(
    isThere()
      ? concatBytes(Uint8Array.of(0x60), hash)
      : concatBytes(Uint8Array.of(0x40), hash, change('pointer', fromHex('8102038101'))),
  )
  const assets = map([[string(policy), map([[string(fromHex('6767')), uint(9)]])]])
  const datum = change('datum', dataOf([1, 30, 190, 1100][draw(4)] as number))
  const script = change(
    'script',
    isThere() ? list([uint(3), string(fromHex('450101002499'))]) : list([uint(0), native]),
  )
  const outputs: Uint8Array[] = []
  let left = 9_000_000n
  const pay = (
    lovelace: bigint,
    fields: readonly (readonly [Uint8Array, Uint8Array])[],
    value = uint(lovelace),
  ) => {
    left -= lovelace
    outputs.push(map([[uint(0), address], [uint(1), value], ...fields]))
  }
  if (isThere()) pay(6_000_000n, [[uint(2), list([uint(1), encoded(datum)])]])
  else {
    if (isThere()) pay(2_000_000n, [[uint(3), encoded(script)]])
    if (isThere()) pay(1_500_000n, [[uint(2), list([uint(0), string(blake2b256(datum))])]])
  }
  pay(left, [], mints ? list([uint(left), assets]) : uint(left))
  const fields: (readonly [number, Uint8Array])[] = [
    [0, list([coin(first), coin(first + 1)])],
    [1, list(outputs)],
    [2, uint(1_000_000)],
  ]
  if (isThere()) fields.push([3, uint(10n ** 10n)])
  if (hasData) fields.push([7, string(blake2b256(data))])
  if (isThere()) fields.push([8, uint(1)])
  if (mints) fields.push([9, assets])
  if (isThere()) fields.push([14, list([string(hash)])])
  if (isThere()) fields.push([15, uint(0)])
  if (isThere()) fields.push([18, list([coin(39)])])
  const body = change('body', map(fields.map(([key, value]) => [uint(key), value] as const)))
  const signature = list([string(keys.payment.publicKey), string(keys.payment.sign(blake2b256(body)))])
  const witnesses = map([
    [uint(0), list([signature])],
    ...(mints ? [[uint(1), list([native])] as const] : []),
  ])
  const rest = change('rest', concatBytes(Uint8Array.of(0xf5), hasData ? data : Uint8Array.of(0xf6)))
  return concatBytes(Uint8Array.of(0x84), body, change('witness set', witnesses), rest)
}
