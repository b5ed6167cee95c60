import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blockVersion, derive, encodedHeader, genesisHeaderHash, transactionsRoot } from '@ratatosk/block'
import { CborWriter, concatBytes, toHex } from '@ratatosk/cbor'
import { movedParts } from '@ratatosk/fraud'
import { encodeOutputReference } from '@ratatosk/ledger'
import { SourceChain } from '@ratatosk/test-kit'
import { emptyRoot } from '@ratatosk/trie'
import type { AttackedTask, Said } from './follower-under-attack.js'
import { honestBody, lyingBody, randomOf, shapeNames, transactionsOf } from './generated-bodies.js'

export interface AttackOptions {
  readonly role: AttackedTask['role']
  /** Bodies that the peer sends; every second has a valid header. */
  readonly bodies: number
  readonly seed: number
  /** Share of the largest body of each. */
  readonly share: (n: number) => number
  readonly program?: string
  readonly log?: (line: string) => void
}

export interface AttackResult {
  /** How each body ended, and how often. */
  readonly ended: ReadonlyMap<string, number>
  readonly longestTurn: Said['turn']
  readonly peakRss: number
  /** Bytes of heap and buffers before the first body and after the last. */
  readonly held: readonly [before: number, after: number]
}

const ownProgram = fileURLToPath(
  new URL('../../../dist/test/hostile/follower-under-attack.js', import.meta.url),
)

const key = (name: string) => new CborWriter(16).text(name).toBytes()

/** Attacks a follower in a process with a heap of 512 MiB. Rejects if it ends. */
export async function attack(options: AttackOptions): Promise<AttackResult> {
  const { role, bodies, seed, share, program = ownProgram, log = () => undefined } = options
  const random = randomOf(seed)
  const chain = new SourceChain()
  const honest = await chain.commit(4)
  const dir = await mkdtemp(join(tmpdir(), 'ratatosk-hostile-'))
  let served: readonly [hash: string, body: Uint8Array] = ['', new Uint8Array()]
  const server = createServer((request, response) => {
    const [, hash] = /\/block\/([0-9a-f]{56})\/body$/.exec(request.url ?? '') ?? []
    if (hash !== served[0]) return response.writeHead(404).end()
    const end = concatBytes(key('hash'), Uint8Array.of(0x58, 28), Buffer.from(hash, 'hex'), key('height'))
    response.writeHead(200, { 'content-type': 'application/cbor' })
    response.write(concatBytes(Uint8Array.of(0xa3), key('body')))
    response.write(served[1])
    return response.end(concatBytes(end, Uint8Array.of(1)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const task: AttackedTask = {
    dir,
    role,
    peer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    genesis: chain.genesis.map(({ reference, output }) => ({
      outref: toHex(encodeOutputReference(reference)),
      output: toHex(output),
    })),
  }
  const child = fork(program, [JSON.stringify(task)], {
    execArgv: ['--max-old-space-size=512', '--expose-gc'],
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
  let longestTurn = { wall: 0, processor: 0 }
  let peakRss = 0
  const rss = setInterval(() => {
    const text = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    peakRss = Math.max(peakRss, 1024 * Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0))
  }, 50)

  async function next(isLast: (said: Said) => boolean): Promise<Said> {
    for (;;) {
      const [said] = (await Promise.race([once(child, 'message'), gone])) as [Said]
      const { turn } = said
      if (Math.min(turn.wall, turn.processor) > Math.min(longestTurn.wall, longestTurn.processor))
        longestTurn = turn
      if (isLast(said)) return said
    }
  }

  const figures = async (): Promise<number> => {
    child.send('figures')
    return (await next(({ ended: what }) => what === undefined)).heap
  }

  try {
    await next(({ ended: what }) => what === 'ready')
    longestTurn = { wall: 0, processor: 0 }
    const before = await figures()
    for (let n = 0; n < bodies; n++) {
      const shape = shapeNames[n % shapeNames.length] as string
      const transactions = transactionsOf(shape, share(n), random)
      const isRight = Math.floor(n / shapeNames.length + (n % shapeNames.length)) % 2 === 0
      const hashBefore = (outref: Uint8Array) => chain.genesisHash(outref)
      const derived = isRight ? (await derive(transactions, movedParts)).derive(hashBefore) : undefined
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
      served = [toHex(hash), body]
      child.send({ headers: [toHex(bytes)] })
      const wanted = isRight ? /^(watched|invalid)/ : /^backed off/
      const since = performance.now()
      const said = await next(({ ended: what = '' }) => wanted.test(what) || /^error/.test(what))
      // Lies of the same block again would only be the same again.
      served = ['', new Uint8Array()]
      child.send({ headers: [] })
      const end = (said.ended ?? '').slice(0, 60)
      ended.set(end, (ended.get(end) ?? 0) + 1)
      log(
        `${n} ${shape} ${isRight ? 'right' : 'lie'} ${(body.length / 1e6).toFixed(1)} MB: ` +
          `${said.ended?.slice(0, 90)}; turn ${Math.round(said.turn.wall)}/` +
          `${Math.round(said.turn.processor)} ms, rss ${Math.round(peakRss / 1e6)} MB, ` +
          `heap ${Math.round(said.heap / 1e6)} MB, ${Math.round(performance.now() - since)} ms`,
      )
    }
    // It still does its work.
    served = [toHex(honest.headerHash), honestBody(honest.cbors)]
    child.send({ headers: [toHex(honest.header)] })
    await next(({ ended: what }) => what === 'archived')
    served = ['', new Uint8Array()]
    const after = await figures()
    child.send('end')
    await once(child, 'exit')
    return { ended, longestTurn, peakRss, held: [before, after] }
  } finally {
    clearInterval(rss)
    child.kill('SIGKILL')
    server.closeAllConnections()
    server.close()
    await rm(dir, { recursive: true, force: true })
  }
}
