import t from 'tap'
import { build, invalid, itemOf, tooLarge, unsupported } from './test/build.js'

t.test('accepts hex of either case with surrounding white space', async (t) => {
  const { post, queue } = await build(t)
  for (const body of [
    '84a0a0f5f6',
    '84A0A0F5F6',
    '84a0A0f5F6',
    '84a0a0f5f6\n',
    '84a0a0f5f6\r\n',
    '  84a0a0f5f6',
    '\t\v\f\r\n 84a0a0f5f6 \n\n\n',
    `${' '.repeat(500)}84a0a0f5f6${'\n'.repeat(500)}`,
  ]) {
    t.equal((await post(body)).statusCode, 200, JSON.stringify(body))
  }
  t.same([...new Set(queue.entries)], ['84a0a0f5f6'])
})

t.test('accepts text/plain with any charset', async (t) => {
  const { post } = await build(t)
  for (const type of [
    'text/plain',
    'TEXT/Plain',
    'text/plain;charset=utf-8',
    'text/plain; charset=UTF-8',
    'text/plain; charset="iso-8859-1"',
    'text/plain; charset=windows-1252; format=flowed',
    'text/plain ; charset=us-ascii',
    'text/plain;',
  ]) {
    t.equal((await post('84a0a0f5f6', type)).statusCode, 200, type)
  }
})

t.test('accepts any well-formed item, transaction or not', async (t) => {
  const { post, queue } = await build(t)
  const items = {
    integer: '00',
    'large integer': '1bffffffffffffffff',
    'integer in more bytes than it needs': '1900ff',
    null: 'f6',
    'empty array': '80',
    'empty map': 'a0',
    'map with a key twice': 'a200010002',
    'indefinite array': '9f01ff',
    'indefinite map': 'bf0001ff',
    'indefinite text': '7f61616162ff',
    'tagged set': 'd9010280',
    'nested tags': 'c0c0c000',
    float: 'f97e00',
    'simple value': 'f820',
  }
  for (const [name, item] of Object.entries(items)) {
    t.equal((await post(item)).statusCode, 200, name)
  }
  t.same(queue.entries, Object.values(items))
})

t.test('answers 400 to everything else and enqueues nothing', async (t) => {
  const { post, queue } = await build(t)
  const bodies: Record<string, string | Buffer> = {
    empty: '',
    'white space only': ' \r\n\t ',
    'one digit': '8',
    'odd number of digits': '84a0a0f5f',
    'odd number of digits, trailing space': '84a0a0f5f ',
    'white space inside': '84a0 a0f5f6',
    'line breaks inside': '84a0\na0f5f6',
    '0x prefix': '0x84a0a0f5f6',
    'no hex': 'hello',
    'no hex at the end': '84a0a0f5fg',
    base64: 'hKCg9fY=',
    JSON: '{"tx":"84a0a0f5f6"}',
    'JSON string': '"84a0a0f5f6"',
    'raw bytes': Buffer.from('84a0a0f5f6', 'hex'),
    'letters whose low byte is a digit': 'İİ',
    'full-width digits': '８０',
    'byte order mark': '\uFEFF80',
    'no-break space around': '\u00A080\u00A0',
    'UTF-16': Buffer.from('84a0a0f5f6', 'utf16le'),
    'NUL after the digits': '80\u0000',
    'trailing byte': '8000',
    'two items': '84a0a0f5f684a0a0f5f6',
    truncated: '84a0a0f5',
    'truncated head': '19ff',
    'truncated string': '42ab',
    'break alone': 'ff',
    'break in a definite array': '81ff',
    'break as the value of a map': 'bf00ff',
    'reserved additional information': '1c',
    'reserved simple value': 'f818',
    'chunk of another kind': '5f6161ff',
    'nested indefinite chunk': '5f5f4100ffff',
    'tag of nothing': 'c0',
    'array that claims 2^60 items': '9b1000000000000000',
    'map that claims 2^63 pairs': 'bb8000000000000000',
    'string that claims 2^60 bytes': '5b1000000000000000',
    'depth bomb': '81'.repeat(16_384),
    'depth bomb with a bottom': `${'81'.repeat(16_383)}80`,
    'indefinite depth bomb': '9f'.repeat(16_384),
    'tag bomb': `${'c0'.repeat(16_383)}00`,
    'map bomb': `${'a100'.repeat(8191)}a000`,
  }
  for (const [name, body] of Object.entries(bodies)) {
    const response = await post(body)
    t.equal(response.statusCode, 400, name)
    t.equal(response.body, invalid, name)
  }
  t.same(queue.entries, [])
})

t.test('answers 400 to an empty body', async (t) => {
  const { server } = await build(t)
  const response = await server.inject({
    method: 'POST',
    url: '/submit',
    headers: { 'content-type': 'text/plain' },
  })
  t.equal(response.statusCode, 400)
  t.equal(response.body, invalid)
})

t.test('accepts up to 16,384 bytes of CBOR, not counting white space, and answers 413 to more', async (t) => {
  const { post, queue } = await build(t)
  for (const body of [itemOf(16_384), `${itemOf(16_384)}\r\n`, ` ${itemOf(16_384)}${'\n'.repeat(1023)}`]) {
    t.equal((await post(body)).statusCode, 200)
  }
  t.same([...new Set(queue.entries)], [itemOf(16_384)])
  for (const [name, body] of [
    ['a byte more', itemOf(16_385)],
    ['a byte more and a line break', `${itemOf(16_385)}\n`],
    ['a digit more', `${itemOf(16_384)}a`],
    ['no hex, but too long for it', 'z'.repeat(32_769)],
    ['more white space than is allowed for', `${itemOf(16_384)}${' '.repeat(1025)}`],
    ['1 MB', 'ab'.repeat(500_000)],
  ] as const) {
    const response = await post(body)
    t.equal(response.statusCode, 413, name)
    t.equal(response.body, tooLarge, name)
  }
  t.equal(queue.entries.length, 3)
})

t.test('takes the limit from its options', async (t) => {
  const { post } = await build(t, { maxTransactionSize: 300 })
  t.equal((await post(itemOf(300))).statusCode, 200)
  t.equal((await post(itemOf(301))).statusCode, 413)
  const large = await build(t, { maxTransactionSize: 2_000_000 })
  t.equal(
    (await large.post('5a001e847b'.concat('00'.repeat(1_999_995)))).statusCode,
    200,
    "above the server's own limit",
  )
})

t.test('answers 415 to any other content type', async (t) => {
  const { post, server, queue } = await build(t)
  for (const type of [
    'application/json',
    'application/cbor',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html',
    'text/plainer',
    'text',
    'text/',
    '/',
    '*/*',
  ]) {
    for (const body of ['84a0a0f5f6', '']) {
      const response = await post(body, type)
      t.equal(response.statusCode, 415, type)
      t.equal(response.body, unsupported, type)
    }
  }
  const json = await post('{"tx":"84a0a0f5f6"}', 'application/json')
  t.equal(json.statusCode, 415)
  for (const payload of ['84a0a0f5f6', undefined]) {
    const untyped = await server.inject({ method: 'POST', url: '/submit', ...(payload && { payload }) })
    t.equal(untyped.statusCode, 415, 'no content type')
    t.equal(untyped.body, unsupported)
  }
  t.same(queue.entries, [])
})
