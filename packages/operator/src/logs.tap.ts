import { prettyFactory } from 'pino-pretty'
import t from 'tap'
import type { BlockCount } from './index.js'
import { build } from './test/build.js'

const block = (height: bigint, state: BlockCount['state'], transactions: number): BlockCount => ({
  height,
  state,
  transactions,
  headerHash: Buffer.alloc(28, Number(height)),
})
const pretty = prettyFactory({ colorize: false, ignore: 'time,pid,hostname,reqId' })

t.test('GET /logBlocksTxsDB logs a table of blocks and their transaction counts as one record', async (t) => {
  const { node, get, lines, log } = await build(t)
  node.blocks = [block(13n, 'submitted', 11), block(12n, 'committed', 10_000), block(9n, 'merged', 0)]
  const answer = await get('/logBlocksTxsDB')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"BlocksTxsDB drawn in server logs!"}')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same(node.asked, ['blocks 100'])
  const table = [
    'Blocks: 3, transactions: 10011',
    '  height  state      transactions  header hash',
    `      13  submitted            11  ${'0d'.repeat(28)}`,
    `      12  committed         10000  ${'0c'.repeat(28)}`,
    `       9  merged                0  ${'09'.repeat(28)}`,
  ].join('\n')
  t.equal(log().length, 1)
  t.match(log()[0], { level: 30, reqId: 'req-1', msg: table })
  const record = lines.find((line) => line.includes('Blocks: 3'))!
  t.equal(record.indexOf('\n'), record.length - 1, 'the only line break ends the record')
  t.equal(pretty(record), `INFO: ${table}\n`)
})

t.test('GET /logBlocksTxsDB logs that there are no blocks yet', async (t) => {
  const { get, log } = await build(t)
  t.equal((await get('/logBlocksTxsDB')).status, 200)
  t.match(log(), [{ level: 30, msg: 'Blocks: none' }])
})

t.test('answers 500 for block counts that are none, and logs the field', async (t) => {
  const { node, get, log } = await build(t)
  const [one] = [block(1n, 'merged', 1)]
  for (const [counts, message] of [
    [undefined, 'an array of BlockCount: Expected array'],
    [[{}], 'an array of BlockCount: 0.height: Expected required property'],
    [[one, { ...one, headerHash: 'ab' }], 'an array of BlockCount: 1.headerHash: Expected Uint8Array'],
    [Array(101).fill(one), 'at most 100 entries'],
  ] as const) {
    node.blocks = counts as unknown as BlockCount[]
    t.equal((await get('/logBlocksTxsDB')).status, 500, message)
    t.match(log().at(-1), { err: { message: `blocks.counts() must resolve to ${message}` } })
  }
})

t.test('GET /logGlobals logs in-memory state of any shape as one record', async (t) => {
  const { node, get, lines, log } = await build(t)
  const circular: Record<string, unknown> = { own: 1 }
  circular.self = circular
  const shared = { a: 1 }
  let deep: unknown = 'bottom'
  for (let depth = 0; depth < 10_000; depth++) deep = [deep]
  node.globals = {
    lovelace: 2n ** 64n,
    hash: Uint8Array.of(0, 255),
    at: new Date(0),
    never: new Date(Number.NaN),
    set: new Set([1n, 'a']),
    map: new Map<unknown, unknown>([
      [Uint8Array.of(1), { nested: Buffer.of(2) }],
      [3n, undefined],
    ]),
    failure: new TypeError('bad'),
    run: () => 1,
    missing: undefined,
    nothing: null,
    symbol: Symbol('s'),
    list: [1, true, 'text'],
    circular,
    twice: [shared, shared],
    active: true,
  }
  const answer = await get('/logGlobals')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"Global variables logged!"}')
  t.equal(answer.headers['cache-control'], 'no-store')
  const [record, ...others] = log()
  t.same(others, [])
  t.match(record, { level: 30, reqId: 'req-1', msg: 'Global variables' })
  t.same(record?.globals, {
    lovelace: '18446744073709551616',
    hash: '00ff',
    at: '1970-01-01T00:00:00.000Z',
    never: null,
    set: ['1', 'a'],
    map: { '01': { nested: '02' } },
    failure: 'TypeError: bad',
    nothing: null,
    symbol: 'Symbol(s)',
    list: [1, true, 'text'],
    circular: { own: 1, self: '[circular]' },
    twice: [{ a: 1 }, { a: 1 }],
    active: true,
  })
  t.match(pretty(lines.find((line) => line.includes('Global variables'))!), /INFO: Global variables\n/)

  node.globals = { deep }
  t.equal((await get('/logGlobals')).status, 200, 'however deep')
  t.match(JSON.stringify(log()[1]?.globals), '[deeper]')
})

t.test('GET /logGlobals accepts a snapshot that is neither a promise nor an object', async (t) => {
  for (const value of [7, 'text', null, undefined, [1n]]) {
    const { get, log } = await build(t, { globals: { snapshot: () => value } })
    t.equal((await get('/logGlobals')).status, 200)
    t.match(log(), [{ msg: 'Global variables' }])
  }
})
