import { encodedHeader, type Header } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { decodeOutputReference, outputReferenceKey } from '@ratatosk/ledger'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { openAnswerer } from '../../../../packages/follower/dist/watcher/test/answerer.js'
import {
  largeLie,
  lies,
  lostQuestions,
  outputsOfLies,
} from '../../../../packages/protocol/dist/fraud/test/lies/index.js'
import {
  blockOn,
  type Committed,
  type Story,
  tellStory,
} from '../../../../packages/protocol/dist/fraud/test/lying-blocks.js'
import { openCheats } from '../test/adversary/cheats.js'
import { anyPlacement } from '../test/backends.js'
import { applyBlock, besideNode, devnetServer, serveBody, tailHash, trieOf } from '../test/forged-block.js'
import { initialised, submit } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

/** How an operator hides what it lies about. */
interface Hiding {
  /** No peer has the transactions. */
  readonly isWithheld: boolean
  /** The first question that the operator does not answer, and all after it. */
  readonly isSilent?: (question: SummonsQuestion) => boolean
}

interface Outcome {
  readonly verdict: {
    readonly state: string
    readonly policy: string
    readonly fraud: string
    readonly stages: readonly string[]
  }
  /** Kinds of the questions that the operator answered. */
  readonly answered: readonly string[]
  /** Whether the cheat is an operator. */
  readonly isRegistered: boolean
  /** Whether the next honest block follows the last, and has the outputs that follow from it. */
  readonly isContinued: boolean
  /** Whether the watcher has archived the same bytes as the honest operator serves. */
  readonly isArchived: boolean
  readonly phases: Phases
}

interface ListedVerdict extends Pick<Outcome['verdict'], 'state' | 'policy' | 'fraud'> {
  readonly headerHash: string
  readonly foundAt: string
  readonly removedAt?: string
  readonly transactions: readonly { readonly stage: string; readonly sentAt: string }[]
}

const json = async (url: string) => JSON.parse((await ask(url)).body)
const timeoutMs = 180_000

/** An honest operator and a watcher in processes of their own, and operators who lie beside them. */
async function openAdversary(t: Test, runs: number) {
  const layer1 = await devnetServer(t)
  const lied = outputsOfLies()
  const { genesisFile, transfers } = await manyTransfers(
    t,
    runs,
    Array.from(lied, ([key, output]) => ({
      outref: outputReferenceKey(decodeOutputReference(fromHex(key))),
      output: toHex(output),
    })),
  )
  const peer = await serveBody(t)
  const honestPort = await freePort()
  const common = {
    ...layer1.settings,
    ARCHIVIST_PEERS: peer.url,
    BLOCK_VALIDITY_MS: '2500',
    GENESIS_FILE: genesisFile,
    // The version in which an input must not be read too.
    LEDGER_VERSION: '10',
    MATURITY_WINDOW_MS: '120000',
    OPERATOR_BOND: '100000000',
    OPERATOR_TURN_MS: '10000',
    TAKEOVER_AFTER_MS: '2500',
  }
  const own = { ...(await anyPlacement(t)), ...common, PORT: String(honestPort) }
  const honest = await spawnNode(t, own)
  await initialised(honest.url)
  const watcher = await spawnNode(t, {
    ...(await anyPlacement(t)),
    ...common,
    ARCHIVIST_PEERS: `${peer.url},${honest.url}/archivist`,
    NODE_ROLE: 'watcher',
    WATCHER_PATIENCE_MS: '500',
    // Each datum of a proof locks ada for a while.
    WATCHER_MAX_LOVELACE_PER_HOUR: '0',
  })
  const isReady = async () => (await ask(`${watcher.url}/health/ready`)).status === 200
  await until(isReady, { what: 'the watcher is ready' })
  const beside = await besideNode(t, layer1.devnet, own)
  const { context, contracts, port, readQueue, readOperators, readScripts } = beside
  const story = await tellStory(context.parameters, context.network.slots)
  const cheats = openCheats(beside, [5, 6, 7])
  await cheats.register()

  /** The ledger as it follows from the blocks of the honest operator. */
  const ledger = beside.genesisOutputs()
  let blocks = 0

  /** Has a cheat tell a lie while a user pays, until the payment is in the next honest block. */
  async function run(tell: (story: Story) => Committed, hiding: Hiding): Promise<Outcome> {
    const block = blockOn(tell(story), ledger)
    const tail = tailHash(await readQueue())
    const lie = await cheats.commit(block, (header) => {
      const { transactions } = block
      if (!hiding.isWithheld) peer.know({ header, transactions, height: BigInt(blocks) + 1n })
    })
    const { header, headerHash, wallet } = lie
    const referenceScripts = await readScripts()
    const { isSilent } = hiding
    const means = { contracts, layer1: port, wallet, referenceScripts, ...(isSilent && { isSilent }) }
    const answerer = await openAnswerer(means, block)
    t.teardown(() => answerer.close())
    const { cborHex } = transfers[blocks]!
    await submit(honest.url, cborHex)

    const verdict = await removed(headerHash).catch(async (error: unknown) => {
      // The failure of the cheat explains this one.
      await answerer.close()
      throw error
    })
    const next = await blockAfter(tail, [headerHash, lie.successor])
    applyBlock(ledger, [fromHex(cborHex)], { ...next, networkId: 0 })
    const recommitted = Date.now()
    blocks++
    await answerer.close()
    peer.know(undefined)
    const { state, policy, fraud, transactions } = verdict
    const proof = transactions.find(({ stage }) => stage !== 'question')
    const since = (time = '') => Date.parse(time) - lie.committedAt
    const isCheat = ({ vkey }: { readonly vkey: Uint8Array }) => equalBytes(vkey, header.operatorVkey)
    const outcome: Outcome = {
      verdict: { state, policy, fraud, stages: transactions.map(({ stage }) => stage) },
      answered: answerer.answered.map(({ kind }) => kind),
      isRegistered: (await readOperators()).datum.operators.some(isCheat),
      isContinued: equalBytes(next.prevHeaderHash, tail) && equalBytes(next.utxosRoot, trieOf(ledger).root),
      isArchived: await isArchived(toHex(encodedHeader(next).hash)),
      phases: {
        detected: since(verdict.foundAt),
        proven: since(proof?.sentAt),
        removed: since(verdict.removedAt),
        recommitted: recommitted - lie.committedAt,
      },
    }
    await cheats.register()
    return outcome
  }

  /** The watcher's verdict about a block, once it is removed. */
  async function removed(headerHash: string): Promise<ListedVerdict> {
    let found: ListedVerdict | undefined
    const isRemoved = async () => {
      const { verdicts } = await json(`${watcher.url}/verdicts`)
      found = verdicts.find((each: ListedVerdict) => each.headerHash === headerHash)
      return found?.state === 'removed'
    }
    await until(isRemoved, { what: 'the block is removed', timeoutMs }).catch((error: Error) => {
      const told = watcher.output().split('\n').slice(-8).join('\n')
      throw new Error(`${error.message}: ${JSON.stringify(found)}\nThe watcher says: ${told}`)
    })
    return found!
  }

  /** The newest block of the queue, once it is another than the tail before and the others are gone. */
  async function blockAfter(tail: Uint8Array, gone: readonly string[]): Promise<Header> {
    let next: Header | undefined
    const isThere = async () => {
      const queue = await readQueue()
      next = queue.blocks.at(-1)?.datum.header
      if (queue.blocks.some((each) => gone.includes(toHex(each.headerHash)))) return false
      return next !== undefined && !equalBytes(encodedHeader(next).hash, tail)
    }
    await until(isThere, { what: 'the honest block', timeoutMs })
    return next!
  }

  async function isArchived(hash: string): Promise<boolean> {
    const bodyAt = (url: string) => ask(`${url}/block/${hash}/body`)
    await until(async () => (await bodyAt(watcher.url)).status === 200, { what: 'it is archived', timeoutMs })
    const [archived, served] = [await bodyAt(watcher.url), await bodyAt(`${honest.url}/archivist`)]
    return served.status === 200 && archived.body === served.body
  }

  return { run }
}

t.setTimeout(7_200_000)

/** A lie that an operator commits, and its expected end. */
interface Case extends Hiding {
  readonly name: string
  readonly what: string
  readonly tell: (story: Story) => Committed
  readonly policy: string
  /** As the verdict names it. */
  readonly fraud: string
}

const large: Case = {
  name: 'inputSpentElsewhere: large',
  what: 'that an output can be spent twice, with a proof that needs a datum',
  tell: largeLie,
  policy: 'ledger',
  fraud: 'inputSpentElsewhere',
  isWithheld: false,
}

const cases: readonly Case[] = [
  large,
  ...lies.map(
    ({ fraud, provenAs, isHidden, ...lie }): Case => ({
      ...lie,
      name: fraud,
      fraud: (provenAs?.fraud ?? fraud).replace(/:.*/, ''),
      // The transactions are those of the header's root, and only the outputs after them are not.
      isWithheld: isHidden && fraud !== 'wrongOutputsAfter',
    }),
  ),
  ...Object.entries(lostQuestions).map(
    ([kind, lie]): Case => ({
      ...lie,
      name: `unanswered: ${kind}`,
      policy: 'summons',
      fraud: 'unanswered',
      isSilent: (question) => question.kind === kind,
    }),
  ),
]

/** One that is proven, and one whose operator does not answer. */
const some = ['valueNotPreserved', 'unanswered: chunk']

function chosen(wanted = ''): readonly Case[] {
  if (wanted === 'all') return cases
  const names = wanted === '' ? some : wanted.split(',')
  return names.map((name) => {
    const found = cases.find((each) => each.name === name)
    if (found === undefined)
      throw new RangeError(`There is no lie ${name}: ${cases.map((each) => each.name).join()}`)
    return found
  })
}

t.test('an operator who lies loses the block and the bond, and the honest one goes on', async (t) => {
  const told = chosen(process.env.RATATOSK_ADVERSARY)
  const { run } = await openAdversary(t, told.length)
  const groups = new Map<string, Phases[]>()
  for (const { name, what, tell, policy, fraud, isWithheld, isSilent } of told) {
    const outcome = await run(tell, { isWithheld, ...(isSilent && { isSilent }) })
    const { verdict, phases, answered } = outcome
    t.match(verdict, { state: 'removed', policy, fraud }, `${name}: an operator says ${what}`)
    if (name === large.name) t.same(verdict.stages.slice(0, 2), ['datum', 'removal'])
    t.equal(outcome.isRegistered, false, 'the cheat is slashed')
    t.equal(outcome.isContinued, true, 'the honest block follows from the honest blocks alone')
    t.equal(outcome.isArchived, true, 'the watcher has the same bytes')
    const { detected, proven, removed, recommitted } = phases
    const times = [detected, proven, removed, recommitted].map((ms) => (ms / 1000).toFixed(2))
    const stages = verdict.stages.filter((stage) => stage !== 'question')
    t.comment(`${name}: ${stages} after ${answered.length} answers: ${times.join(' ')} s`)
    const group = isSilent ? 'lost questions' : answered.length > 0 ? 'answered questions' : 'claims'
    groups.set(group, [...(groups.get(group) ?? []), phases])
  }
  for (const line of tableOf(groups)) t.comment(line)
})

/** The times of a block of a cheat, in milliseconds from its commitment. */
interface Phases {
  /** A watcher has found it, or has missed its body. */
  readonly detected: number
  /** The fraud's first datum, verdict or removal is recorded to be sent. */
  readonly proven: number
  /** The watcher has seen that the state queue no longer has it. */
  readonly removed: number
  /** The honest operator has committed the next block. */
  readonly recommitted: number
}

/** Quantiles by nearest rank. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Lines with p50 and p95 of each phase, in seconds. */
function tableOf(groups: ReadonlyMap<string, readonly Phases[]>): string[] {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const row = (...cells: readonly string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(32) : cell.padStart(8))).join('')
  const lines = [row('seconds from the commitment', 'runs', 'p50', 'p95')]
  for (const [group, runs] of groups)
    for (const phase of ['detected', 'proven', 'removed', 'recommitted'] as const) {
      const values = runs.map((run) => run[phase])
      const [half, most] = [quantile(values, 0.5), quantile(values, 0.95)].map(seconds)
      lines.push(row(`${group}: ${phase}`, String(runs.length), half!, most!))
    }
  return lines
}
