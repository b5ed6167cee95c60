// Payments among many addresses that leave a ledger as large as it is: by turns of one output to two, and of
// two to one, all picked at random. What is validated elsewhere is not measured with them: amounts and
// signatures mean nothing.
import { randomBytes } from 'node:crypto'
import { array, blake2b, bytes, map, output, set, uint } from './transfers.mjs'

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
  const addressOf = (i) =>
    Buffer.concat([Buffer.from([0x60]), blake2b(28, Buffer.from(`address ${i % addresses}`))])
  const publicKey = randomBytes(32)
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
    const body = map(
      [uint(0), set(...spent.map(({ id, index }) => array(bytes(id), uint(index))))],
      [
        uint(1),
        array(...Array.from({ length: outputs }, () => output(addressOf(random(addresses)), lovelace))),
      ],
      [uint(2), uint(fee)],
    )
    const id = blake2b(32, body)
    for (let index = 0; index < outputs; index++) unspent.push({ id, index })
    const witnesses = map([uint(0), set(array(bytes(publicKey), bytes(randomBytes(64))))])
    return array(body, witnesses, Buffer.from([0xf5]), Buffer.from([0xf6]))
  }

  return {
    /** In the shape of the node's GENESIS_FILE. */
    genesis: () =>
      sources.map(({ id, index }, i) => ({
        outref: `${id.toString('hex')}#${index}`,
        output: output(addressOf(i), lovelace).toString('hex'),
      })),
    next: (count) => Array.from({ length: count }, pay),
  }
}
