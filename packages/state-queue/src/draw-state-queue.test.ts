import { pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { expect, test } from 'vitest'
import { drawStateQueue } from './index.js'
import { block, now, outRef, root } from './test/build.js'

const lines = (...text: string[]) => text.join('\n')

test('draws the confirmed state, then each block with its age and maturity', () => {
  const view = {
    roots: [root(0x8f, 7300)],
    blocks: [block(0x77, 745, 12n), block(0x91, 32, 13n), block(0x5c, 3, 14n)],
  }
  expect(drawStateQueue(view, now)).toBe(
    lines(
      'State queue: 3 blocks, 1 mature',
      '  confirmed  8f8f8f8f…  2 h ago',
      '  ├─ 12      77777777…  12 min ago  mature',
      '  ├─ 13      91919191…  32 s ago    matures in 28 s',
      '  └─ 14      5c5c5c5c…  3 s ago     matures in 57 s',
    ),
  )
})

test('a block is mature from its exact millisecond, in the heading and in its line', () => {
  const view = { roots: [root(1)], blocks: [block(2, 60)] }
  expect(drawStateQueue(view, now)).toMatch(/^State queue: 1 block, 1 mature\n.* mature$/s)
  expect(drawStateQueue(view, now - 1)).toMatch(/^State queue: 1 block\n.* matures in 0 s$/s)
})

test('draws an empty queue, at genesis and later', () => {
  expect(drawStateQueue({ roots: [root(1)], blocks: [] }, now)).toBe(
    lines('State queue: 0 blocks', '  confirmed  00000000…  genesis'),
  )
  expect(drawStateQueue({ roots: [root(1, 200_000)], blocks: [] }, now)).toBe(
    lines('State queue: 0 blocks', '  confirmed  01010101…  2 d ago'),
  )
})

test('a missing queue is not broken', () => {
  expect(drawStateQueue({ roots: [], blocks: [], fault: '0 roots' }, now)).toBe(
    'State queue: not initialised',
  )
})

test('draws a block that this node does not know, and one that ends after now', () => {
  expect(drawStateQueue({ roots: [root(1)], blocks: [block(2, 59), block(3, -2, 5n)] }, now)).toBe(
    lines(
      'State queue: 2 blocks',
      '  confirmed  00000000…  genesis',
      '  ├─ ?       02020202…  59 s ago  matures in 1 s',
      '  └─ 5       03030303…  0 s ago   matures in 62 s',
    ),
  )
})

test('omits the middle of a long list', () => {
  const blocks = Array.from({ length: 1000 }, (_, place) =>
    block(place % 256, 2000 - place, BigInt(place + 1)),
  )
  const drawn = drawStateQueue({ roots: [root(1, 3000)], blocks }, now).split('\n')
  expect(drawn.length).toBe(2 + 8 + 1 + 8)
  expect(drawn[0]).toBe('State queue: 1000 blocks, 1000 mature')
  expect(drawn[9]).toMatch(/^ {2}├─ 8 /)
  expect(drawn[10]).toBe('  │  … 984 more …')
  expect(drawn[11]).toMatch(/^ {2}├─ 993 /)
  expect(drawn[18]).toMatch(/^ {2}└─ 1000 /)
  const whole = drawStateQueue({ roots: [root(1, 3000)], blocks: blocks.slice(0, 17) }, now)
  expect(whole.split('\n').length, 'one line is not worth leaving out').toBe(2 + 17)
  expect(whole).not.toMatch('more')
  expect(drawStateQueue({ roots: [root(1, 3000)], blocks: blocks.slice(0, 18) }, now)).toMatch('… 2 more …')
})

test('draws a broken queue with its fault', () => {
  expect(
    drawStateQueue(
      {
        roots: [root(1)],
        blocks: [block(2, 30, 1n), block(3, 20, 2n)],
        strays: [{ outRef: outRef(0xaa, 3) }],
        fault: 'a link leads to 0404…, which is not there',
      },
      now,
    ),
  ).toBe(
    lines(
      'State queue: 2 blocks, broken',
      '  confirmed  00000000…  genesis',
      '  ├─ 1       02020202…  30 s ago  matures in 30 s',
      '  ├─ 2       03030303…  20 s ago  matures in 40 s',
      '  └─× a link leads to 0404…, which is not there',
      '  outside of the list: 1 output (aaaaaaaa…#3)',
    ),
  )
  expect(
    drawStateQueue(
      {
        roots: [root(1), root(2)],
        blocks: [],
        strays: [3, 4, 5, 6, 7, 8].map((byte) => ({ outRef: outRef(byte) })),
        fault: '2 roots',
      },
      now,
    ),
  ).toBe(
    lines(
      'State queue: 0 blocks, broken',
      '  confirmed  00000000…  genesis  01010101…#0',
      '  confirmed  00000000…  genesis  02020202…#0',
      '  × 2 roots',
      '  outside of the list: 6 outputs (03030303…#0, 04040404…#0, 05050505…#0, 06060606…#0, …)',
    ),
  )
})

test('keeps a fault that quotes the chain on one line', () => {
  const drawn = drawStateQueue({ roots: [root(1)], blocks: [], fault: 'odd\n\u001b[31m\u202ename' }, now)
  expect(drawn.split('\n').at(-1)).toBe('  × odd [31m name')
})

test('is one record in JSON logs and several lines in pretty ones', () => {
  const drawn = drawStateQueue(
    { roots: [root(0x8f, 7300)], blocks: [block(0x77, 745, 12n), block(0x91, 32, 13n)] },
    now,
  )
  const records: string[] = []
  pino({ timestamp: false, base: null }, { write: (record: string) => void records.push(record) }).info(drawn)
  expect(records.length).toBe(1)
  expect(records[0]?.indexOf('\n'), 'the only line break ends the record').toBe(records[0]!.length - 1)
  expect(JSON.parse(records[0]!)).toEqual({ level: 30, msg: drawn })
  expect(prettyFactory({ colorize: false })(records[0]!)).toBe(`INFO: ${drawn}\n`)
})
