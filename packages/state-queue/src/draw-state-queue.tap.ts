import { pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import t from 'tap'
import { drawStateQueue } from './index.js'
import { block, now, outRef, root } from './test/views.js'

const lines = (...text: string[]) => text.join('\n')

t.test('a list: the confirmed state, then each block with its age and maturity', async (t) => {
  const view = {
    roots: [root(0x8f, 7300)],
    blocks: [block(0x77, 745, 12n), block(0x91, 32, 13n), block(0x5c, 3, 14n)],
  }
  t.equal(
    drawStateQueue(view, now),
    lines(
      'State queue: 3 blocks, 1 mature',
      '  confirmed  8f8f8f8f…  2 h ago',
      '  ├─ 12      77777777…  12 min ago  mature',
      '  ├─ 13      91919191…  32 s ago    matures in 28 s',
      '  └─ 14      5c5c5c5c…  3 s ago     matures in 57 s',
    ),
  )
})

t.test('a block is mature from its very millisecond on, in the heading as in its line', async (t) => {
  const view = { roots: [root(1)], blocks: [block(2, 60)] }
  t.match(drawStateQueue(view, now), /^State queue: 1 block, 1 mature\n.* mature$/s)
  t.match(drawStateQueue(view, now - 1), /^State queue: 1 block\n.* matures in 0 s$/s)
})

t.test('an empty list, at genesis and later', async (t) => {
  t.equal(
    drawStateQueue({ roots: [root(1)], blocks: [] }, now),
    lines('State queue: 0 blocks', '  confirmed  00000000…  genesis'),
  )
  t.equal(
    drawStateQueue({ roots: [root(1, 200_000)], blocks: [] }, now),
    lines('State queue: 0 blocks', '  confirmed  01010101…  2 d ago'),
  )
})

t.test('no queue at all is not a broken one', async (t) => {
  t.equal(drawStateQueue({ roots: [], blocks: [], fault: '0 roots' }, now), 'State queue: not initialised')
})

t.test('a block that this node does not know, and one that ends after now', async (t) => {
  t.equal(
    drawStateQueue({ roots: [root(1)], blocks: [block(2, 59), block(3, -2, 5n)] }, now),
    lines(
      'State queue: 2 blocks',
      '  confirmed  00000000…  genesis',
      '  ├─ ?       02020202…  59 s ago  matures in 1 s',
      '  └─ 5       03030303…  0 s ago   matures in 62 s',
    ),
  )
})

t.test('a long list is drawn without its middle', async (t) => {
  const blocks = Array.from({ length: 1000 }, (_, place) =>
    block(place % 256, 2000 - place, BigInt(place + 1)),
  )
  const drawn = drawStateQueue({ roots: [root(1, 3000)], blocks }, now).split('\n')
  t.equal(drawn.length, 2 + 8 + 1 + 8)
  t.equal(drawn[0], 'State queue: 1000 blocks, 1000 mature')
  t.match(drawn[9], /^ {2}├─ 8 /)
  t.equal(drawn[10], '  │  … 984 more …')
  t.match(drawn[11], /^ {2}├─ 993 /)
  t.match(drawn[18], /^ {2}└─ 1000 /)
  const whole = drawStateQueue({ roots: [root(1, 3000)], blocks: blocks.slice(0, 17) }, now)
  t.equal(whole.split('\n').length, 2 + 17, 'one line is not worth leaving out')
  t.notMatch(whole, 'more')
  t.match(drawStateQueue({ roots: [root(1, 3000)], blocks: blocks.slice(0, 18) }, now), '… 2 more …')
})

t.test('a broken queue is drawn with its fault', async (t) => {
  t.equal(
    drawStateQueue(
      {
        roots: [root(1)],
        blocks: [block(2, 30, 1n), block(3, 20, 2n)],
        strays: [{ outRef: outRef(0xaa, 3) }],
        fault: 'a link leads to 0404…, which is not there',
      },
      now,
    ),
    lines(
      'State queue: 2 blocks, broken',
      '  confirmed  00000000…  genesis',
      '  ├─ 1       02020202…  30 s ago  matures in 30 s',
      '  ├─ 2       03030303…  20 s ago  matures in 40 s',
      '  └─× a link leads to 0404…, which is not there',
      '  outside of the list: 1 output (aaaaaaaa…#3)',
    ),
  )
  t.equal(
    drawStateQueue(
      {
        roots: [root(1), root(2)],
        blocks: [],
        strays: [3, 4, 5, 6, 7, 8].map((byte) => ({ outRef: outRef(byte) })),
        fault: '2 roots',
      },
      now,
    ),
    lines(
      'State queue: 0 blocks, broken',
      '  confirmed  00000000…  genesis  01010101…#0',
      '  confirmed  00000000…  genesis  02020202…#0',
      '  × 2 roots',
      '  outside of the list: 6 outputs (03030303…#0, 04040404…#0, 05050505…#0, 06060606…#0, …)',
    ),
  )
})

t.test('a fault that quotes the chain stays on its line', async (t) => {
  const drawn = drawStateQueue({ roots: [root(1)], blocks: [], fault: 'odd\n\u001b[31m\u202ename' }, now)
  t.equal(drawn.split('\n').at(-1), '  × odd [31m name')
})

t.test('one record as JSON, and lines as they were drawn for people', async (t) => {
  const drawn = drawStateQueue(
    { roots: [root(0x8f, 7300)], blocks: [block(0x77, 745, 12n), block(0x91, 32, 13n)] },
    now,
  )
  const records: string[] = []
  pino({ timestamp: false, base: null }, { write: (record: string) => void records.push(record) }).info(drawn)
  t.equal(records.length, 1)
  t.equal(records[0]?.indexOf('\n'), records[0]!.length - 1, 'the only line break ends the record')
  t.same(JSON.parse(records[0]!), { level: 30, msg: drawn })
  t.equal(prettyFactory({ colorize: false })(records[0]!), `INFO: ${drawn}\n`)
})
