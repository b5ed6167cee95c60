import { setTimeout as sleep } from 'node:timers/promises'
import type { StoryNode } from './find-node.js'
import type { Story } from './story.js'
import type { Transfer } from './transfer.js'

/** Longer than the default of five attempts takes: 250 + 500 + 1000 + 2000 ms. */
const patienceMs = 10_000

/** Submits a transaction whose input is spent already, and shows how the node gives it up. */
export async function tellDoubleSpend(
  story: Story,
  { client, deadLetter }: StoryNode,
  transfer: Transfer,
): Promise<void> {
  story.step('A double spend: the same output once more, to somebody else')
  const id = await client.submit(transfer.cborHex)
  story.say(`200: in the queue, as entry ${id}; whether it is valid is found out now`)

  if (deadLetter === undefined) {
    // The HTTP interface shows no dead letters: the operator finds them in the log.
    const arrived = await client.arrival(transfer.hash, patienceMs)
    if (arrived !== undefined) throw new Error('The node has accepted a double spend.')
    story.say(
      `GET /tx answers 404, still after ${patienceMs / 1000} s: the node has given it up; its log names the reason`,
    )
    return
  }
  const deadline = Date.now() + patienceMs
  let letter = await deadLetter(id)
  while (letter === undefined && Date.now() < deadline) {
    await sleep(100)
    letter = await deadLetter(id)
  }
  if (letter === undefined) throw new Error('The node has not given the double spend up.')
  story.say(`given up after ${letter.attempts} attempts, and kept as a dead letter:`)
  story.say(`${letter.code}: ${letter.message}`)
  if ((await client.transaction(transfer.hash)) !== undefined)
    throw new Error('GET /tx knows the double spend.')
  story.say('GET /tx answers 404, and the ledger is as it was')
}
