import { partsOf } from '@ratatosk/block'
import { concatBytes, fromHex } from '@ratatosk/cbor'
import { keys } from '../../../test/protocol-scene.js'
import { movedParts } from '../../shapes.js'
import { blockOf, type Lie } from '../lying-blocks.js'
import { coin } from '../theft.js'
import { bytes, keyWitness, list, map, output, type Plan, paid, signed, uint } from './signed.js'

const lie = (what: string, fraud: string, transaction: Uint8Array): Lie => ({
  what,
  policy: 'transaction',
  fraud,
  isHidden: false,
  tell: ({ transactions }) => blockOf([...transactions, transaction], { read: movedParts }),
})

const planned = (what: string, fraud: string, plan: Plan): Lie => lie(what, fraud, signed(plan))

const { hash } = keys.payment
const address = keys.address.bytes
/** Without those that hold other outputs where witnesses are lied about. */
const manyCoins = Array.from({ length: 65 }, (_, n) => 5 + n).filter((n) => n < 50 || n > 53)
/** An input in a list of indefinite length. */
const openReference = concatBytes(fromHex('9f'), coin(30).subarray(1), fromHex('ff'))

export const transactionLies: readonly Lie[] = [
  planned('that a transaction may make a lovelace', 'valueNotPreserved', { outputs: [output(paid + 1n)] }),
  planned('that a fee is enough', 'feeTooSmall', { fee: 100_000n, outputs: [output(9_900_000n)] }),
  planned('that an output has enough ada', 'outputTooSmall', {
    outputs: [output(800_000n), output(paid - 800_000n)],
  }),
  planned('that an address of another network is of this one', 'outputOnOtherNetwork', {
    outputs: [output(paid, Uint8Array.of(0x61, ...hash))],
  }),
  planned('that a transaction that ended with slot 0 is in time', 'outsideInterval', {
    fields: [[3, uint(1)]],
  }),
  planned('that a transaction may name the treasury', 'forbiddenField', { fields: [[21, uint(1)]] }),
  planned('that a transaction of another network is of this one', 'wrongNetwork', {
    fields: [[15, uint(1)]],
  }),
  planned('that a key may withdraw', 'forbiddenWithdrawal', {
    fields: [[5, map([bytes(Uint8Array.of(0xe0, ...hash)), uint(0)])]],
  }),
  planned('that a transaction may spend nothing', 'noInputs', { inputs: [] }),
  planned('that an input may be read too', 'inputIsReferenceInput', { fields: [[18, list(coin(31))]] }),
  planned('that a number may have any length', 'unreadablePart', {
    outputs: [output(9_700_000n)],
    fields: [[2, fromHex('1b00000000000493e0')]],
  }),
  planned('that a reference may have indefinite length', 'unreadableReference', {
    fields: [[0, list(openReference, coin(31))]],
  }),
  lie('that a byte may follow a body', 'malformedPart', concatBytes(partsOf(signed()).body, uint(0))),
  planned('that a body may have a field 24', 'strangeField', { fields: [[24, uint(1)]] }),
  planned('that an output may have a field 4', 'strangeOutput', {
    outputs: [map([uint(4), uint(1)], [uint(0), bytes(address)], [uint(1), uint(paid)])],
  }),
  planned('that a key may have 31 bytes', 'strangeWitness', {
    keyWitnesses: (id) => [
      keyWitness(id),
      list(bytes(new Uint8Array(31).fill(5)), bytes(new Uint8Array(64))),
    ],
  }),
  planned('that an input may be there twice', 'repeatedReference', { inputs: [30, 31, 30] }),
  planned('that a transaction may have 61 inputs', 'tooMany', {
    inputs: manyCoins,
    outputs: [output(304_700_000n)],
    fee: 300_000n,
  }),
  planned('that a key hash of a script may have 27 bytes', 'strangeItem', {
    witnesses: [[1, list(list(uint(0), bytes(new Uint8Array(27))))]],
  }),
]
