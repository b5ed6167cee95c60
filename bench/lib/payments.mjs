// Payments among many addresses that keep the size of a ledger: alternately from one output to two and from
// two to one, picked at random. Amounts and signatures are invalid; benchmarks that validate use others.
import { randomBytes } from 'node:crypto'
import {
  addressOf,
  blake2b,
  encodeInput,
  encodeList,
  encodeSet,
  encodeUint,
  outputOf,
  signDraft,
} from '@ratatosk/fixtures'
import { genesisOutput } from './transfers.mjs'

const addresses = 100_000
const lovelace = 5_000_000n
const fee = 200_000n

/** Numbers below a limit that are the same in each run. */
function randomNumbers(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** @param {number} size unspent outputs at the start */
export function createPayments(size) {
  const random = randomNumbers(7)
  const owner = (i) => ({ address: addressOf(blake2b(28, Buffer.from(`address ${i % addresses}`))) })
  const signer = { publicKey: randomBytes(32), sign: () => randomBytes(64) }
  const sources = Array.from({ length: size }, (_, i) => ({
    id: blake2b(32, Buffer.from(`payment ${i}`)),
    index: 0,
  }))
  const unspent = [...sources]
  let made = 0

  function pick() {
    const place = random(unspent.length)
    const picked = unspent[place]
    const last = unspent.pop()
    if (place < unspent.length) unspent[place] = last
    return picked
  }

  function pay() {
    const [inputs, outputs] = made++ % 2 === 0 ? [1, 2] : [2, 1]
    const spent = Array.from({ length: inputs }, pick)
    const paid = Array.from({ length: outputs }, () => outputOf(owner(random(addresses)), lovelace))
    const body = new Map([
      [0, encodeSet(spent.map(({ id, index }) => encodeInput(id, index)))],
      [1, encodeList(paid)],
      [2, encodeUint(fee)],
    ])
    const { id, cbor } = signDraft({ body, witnesses: new Map(), signers: [signer], isValid: true })
    for (let index = 0; index < outputs; index++) unspent.push({ id, index })
    return Buffer.from(cbor)
  }

  return {
    /** In the shape of the node's GENESIS_FILE. */
    genesis: () => sources.map(({ id, index }, i) => genesisOutput(id, outputOf(owner(i), lovelace), index)),
    next: (count) => Array.from({ length: count }, pay),
  }
}
