import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blockVersion, derive, encodedHeader, genesisHeaderHash, transactionsRoot } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { movedParts } from '@ratatosk/protocol/fraud'
import { SourceChain } from '@ratatosk/test-kit'
import { emptyRoot } from '@ratatosk/trie'
import { longer, noTurn, type Turn } from './figures.js'
import type { AttackedTask, Said } from './follower-under-attack.js'
import { honestBody, lyingBody, randomOf, shapeNames, transactionsOf } from './generated-bodies.js'
import { openHostilePeer } from './hostile-peer.js'

export interface AttackOptions {
  readonly searches: boolean
  /** Bodies that the peer sends; every second has a valid header. */
  readonly bodies: number
  readonly from?: number
  readonly seed: number
  /** Share of the largest body of each. */
  readonly share: (n: number) => number
  readonly program?: string
  readonly log?: (line: string) => void
}

export interface AttackResult {
  /** How each body ended, and how often. */
  readonly ended: ReadonlyMap<string, number>
  readonly longestTurn: Turn
  readonly peakRss: number
  /** Bytes of heap and buffers before the first body and after the last. */
  readonly held: readonly [before: number, after: number]
}

const ownProgram = fileURLToPath(
  new URL('../../../dist/test/hostile/follower-under-attack.js', import.meta.url),
)

/** Attacks a follower in a process with a heap of 512 MiB. Rejects if it ends. */
export async function attack(options: AttackOptions): Promise<AttackResult> {
  const { searches, bodies, from = 0, seed, share, program = ownProgram, log = () => undefined } = options
  const chain = new SourceChain()
  const honest = await chain.commit(4)
  const dir = await mkdtemp(join(tmpdir(), 'ratatosk-hostile-'))
  const peer = await openHostilePeer()
  const task: AttackedTask = {
    dir,
    searches,
    peer: peer.url('follower'),
    genesis: chain.genesis.map(({ reference, output }) => ({
      outref: toHex(encodeOutputReference(reference)),
      output: toHex(output),
    })),
  }
  const child = fork(program, [JSON.stringify(task)], {
    execArgv: ['--max-old-space-size=512'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let trouble = ''
  child.stderr?.on('data', (text) => {
    trouble = (trouble + text).slice(-2000)
  })
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process ended with ${code ?? signal}: ${trouble}`)
  })
  gone.catch(() => undefined)
  const ended = new Map<string, number>()
  let longestTurn = noTurn
  let peakRss = 0
  const rss = setInterval(() => {
    const text = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    peakRss = Math.max(peakRss, 1024 * Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0))
  }, 50)

  async function next(isLast: (said: Said) => boolean): Promise<Said> {
    for (;;) {
      const [said] = (await Promise.race([once(child, 'message'), gone])) as [Said]
      longestTurn = longer(longestTurn, said.turn)
      if (isLast(said)) return said
    }
  }

  const figures = async (): Promise<number> => {
    child.send('figures')
    return (await next(({ ended: what }) => what === undefined)).held
  }

  try {
    await next(({ ended: what }) => what === 'ready')
    longestTurn = noTurn
    const before = await figures()
    for (let n = from; n < from + bodies; n++) {
      const random = randomOf(seed + n)
      const shape = shapeNames[n % shapeNames.length] as string
      const transactions = transactionsOf(shape, share(n), random)
      const isRight = Math.floor(n / shapeNames.length + (n % shapeNames.length)) % 2 === 0
      const hashBefore = (outref: Uint8Array) => chain.genesisHash(outref)
      const derived = isRight
        ? (await derive({ transactions }, { read: movedParts })).derive(hashBefore)
        : undefined
      const { bytes, hash } = encodedHeader({
        ...honest.fields,
        prevHeaderHash: genesisHeaderHash(),
        transactionsRoot: derived ? await transactionsRoot(derived) : new Uint8Array(32).fill(n % 256),
        depositsRoot: emptyRoot(),
        withdrawalsRoot: emptyRoot(),
        endTime: honest.fields.endTime + BigInt(n + 1),
        blockVersion,
      })
      const body = isRight || n % 3 === 0 ? honestBody(transactions) : lyingBody(transactions, random)
      peer.serve({ headerHash: toHex(hash), bodies: [body] })
      child.send({ headers: [toHex(bytes)] })
      const wanted = isRight ? /^(watched|invalid)/ : /^backed off/
      const since = performance.now()
      const said = await next(({ ended: what = '' }) => wanted.test(what) || /^error/.test(what))
      // Lies of the same block again would only be the same again.
      peer.serve(undefined)
      child.send({ headers: [] })
      const end = (said.ended ?? '').slice(0, 60)
      ended.set(end, (ended.get(end) ?? 0) + 1)
      log(
        `${n} ${shape} ${isRight ? 'right' : 'lie'} ${(body.length / 1e6).toFixed(1)} MB: ` +
          `${said.ended?.slice(0, 90)}; turn ${Math.round(said.turn.wall)}/` +
          `${Math.round(said.turn.processor)} ms, rss ${Math.round(peakRss / 1e6)} MB, ` +
          `heap ${Math.round(said.held / 1e6)} MB, ${Math.round(performance.now() - since)} ms ` +
          said.long.join('; '),
      )
    }
    // It still does its work.
    peer.serve({ headerHash: toHex(honest.headerHash), bodies: [honestBody(honest.cbors)] })
    child.send({ headers: [toHex(honest.header)] })
    await next(({ ended: what }) => what === 'archived')
    peer.serve(undefined)
    const after = await figures()
    child.send('end')
    await once(child, 'exit')
    return { ended, longestTurn, peakRss, held: [before, after] }
  } finally {
    clearInterval(rss)
    child.kill('SIGKILL')
    peer.close()
    await rm(dir, { recursive: true, force: true })
  }
}
