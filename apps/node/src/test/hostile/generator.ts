import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { derive, transactionsRoot } from '@ratatosk/block'
import { movedParts } from '@ratatosk/fraud'
import {
  honestBody,
  lyingBody,
  randomOf,
  shapeNames,
  shareOf,
  transactionsOf,
} from '../../../../../packages/follower/dist/test/hostile/generated-bodies.js'

/** A body that lies about a block, and the body of the block. */
export interface Pair {
  readonly bodies: readonly Uint8Array[]
  readonly transactionsRoot: Uint8Array
  /** For the log. */
  readonly title: string
}

async function generate(pair: number, seed: number): Promise<Pair> {
  const random = randomOf(seed + pair)
  const numbers = [2 * pair, 2 * pair + 1]
  const shapes = numbers.map((n) => shapeNames[n % shapeNames.length]!)
  const [lie, right] = numbers.map((n, place) => transactionsOf(shapes[place]!, shareOf(n), random)) as [
    readonly Uint8Array[],
    readonly Uint8Array[],
  ]
  const bodies = [pair % 3 === 0 ? lyingBody(lie, random) : honestBody(lie), honestBody(right)]
  const derived = (await derive(right, movedParts)).derive(() => undefined)
  const megabytes = bodies.map(({ length }) => (length / 1e6).toFixed(1))
  const title = `${numbers[0]}: ${shapes.join(' and ')}, ${megabytes.join(' and ')} MB`
  return { bodies, transactionsRoot: await transactionsRoot(derived), title }
}

/** Generates pairs of bodies on a thread of its own: layer 1 and the peer run on the main one. */
export function openGenerator(seed: number) {
  const worker = new Worker(new URL(import.meta.url), { workerData: seed })
  return {
    /** One at a time. */
    async next(pair: number): Promise<Pair> {
      worker.postMessage(pair)
      const [made] = await once(worker, 'message')
      return made
    },
    close: () => worker.terminate(),
  }
}

if (!isMainThread)
  parentPort?.on('message', async (pair: number) => {
    parentPort?.postMessage(await generate(pair, workerData))
  })
