import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { keyOf } from '@ratatosk/fixtures'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import type { Json } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, proofToCbor } from '@ratatosk/trie'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import sodium from 'sodium-native'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SourceChain } from '../chains.js'
import { answer, type Questions } from './checks.js'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const isMissing = !existsSync(executablePath) && process.env.RATATOSK_REQUIRE_SERVICES !== '1'

type Part = keyof Questions
type Answers = { readonly [part in Part]: readonly Json[] }

describe.skipIf(isMissing)(`in Chromium (${executablePath})`, () => {
  const profile = mkdtempSync(join(tmpdir(), 'ratatosk-chromium-'))
  let browser: Browser | undefined
  let questions: Questions
  let inNode: Answers
  let inBrowser: Answers

  beforeAll(async () => {
    questions = await ask()
    inNode = (await answer(questions)) as unknown as Answers
    const { outputFiles } = await build({
      entryPoints: [new URL('../../dist/browser/checks.js', import.meta.url).pathname],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'checks',
      platform: 'browser',
    })
    browser = await chromium.launch({
      executablePath,
      headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'].concat(
        '--disable-background-networking',
        '--disable-component-update',
      ),
      env: { ...process.env, HOME: profile } as Record<string, string>,
    })
    const page = await browser.newPage()
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    inBrowser = (await page.evaluate(
      (asked) => (globalThis as unknown as { checks: { answer: typeof answer } }).checks.answer(asked),
      questions,
    )) as unknown as Answers
  }, 180_000)

  afterAll(async () => {
    await browser?.close()
    rmSync(profile, { recursive: true, force: true })
  })

  it.each<[Part, string]>([
    ['transactions', 'decodes and validates transactions'],
    ['addresses', 'decodes addresses'],
    ['signatures', 'verifies signatures, at edge-case points too,'],
    ['proofs', 'verifies proofs'],
    ['blocks', 'verifies blocks'],
  ])('%s: %s as in Node.js', (part) => {
    expect(inBrowser[part]).toEqual(inNode[part])
    expect(inNode[part]).toHaveLength(questions[part].length)
    // Both acceptance and refusal occur, so the comparison is not vacuous.
    const outcomes = new Set(inNode[part].map(isAccepted))
    expect([...outcomes].sort()).toEqual([false, true])
  })
})

function isAccepted(result: Json): boolean {
  return typeof result === 'object' ? !('code' in (result as object)) : result !== false
}

async function ask(): Promise<Questions> {
  const chain = new SourceChain()
  const before = chain.genesis.map(({ reference }, i) => {
    const [outref, output] = [...chain.utxos][i]!
    expect(outref).toContain(toHex(reference.transactionId))
    return [outref, toHex(output)] as const
  })
  const block = await chain.commit(30)
  const { header, cbors } = block
  const body = encodeBlockBody(bodyOf(cbors))
  const good = { header: toHex(header), body: toHex(body), before }
  const transactions = [...cbors.map(toHex), ...scenarioTransactions()]
  return {
    transactions: [...transactions, ...transactions.slice(0, 60).map(damaged)],
    addresses: [
      'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
      'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsq',
    ],
    signatures: edgeCaseSignatures(),
    proofs: proofs(),
    blocks: [
      good,
      { ...good, body: toHex(encodeBlockBody(bodyOf(cbors.slice(1)))) },
      { ...good, header: good.header.replace(toHex(block.fields.utxosRoot), '00'.repeat(32)) },
      { ...good, before: before.slice(1) },
      { ...good, body: good.body.slice(0, -2) },
    ],
  }
}

/** Real transactions, with scripts, datums, certificates and every other field. */
function scenarioTransactions(): string[] {
  const folder = vectorsFolder('ledger-scenarios/scenarios')
  if (folder === undefined) return []
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).transaction)
}

/** Changes one byte, at a different position in each transaction. */
function damaged(hex: string, i: number): string {
  const bytes = fromHex(hex)
  const at = (i * 37) % bytes.length
  bytes[at] = (bytes[at] as number) ^ (1 << (i % 8))
  return toHex(bytes)
}

function proofs(): Questions['proofs'] {
  const trie = createTrie({ store: createMemoryStore() })
  const keys = Array.from({ length: 300 }, (_, i) => Uint8Array.of(i >> 8, i))
  trie.update(keys.map((key) => ({ type: 'insert', key, value: key })))
  const root = toHex(trie.root)
  return keys.slice(0, 60).flatMap((bytes) => {
    const [key, proof] = [toHex(bytes), toHex(proofToCbor(trie.prove(bytes)))]
    const absent = Uint8Array.of(9, ...bytes)
    const absence = toHex(proofToCbor(trie.proveAbsence(absent)))
    return [
      { root, key, value: key, proof },
      { root, key, value: toHex(absent), proof },
      { root, key, proof },
      { root, key: toHex(absent), proof: absence },
      { root, key, value: key, proof: proof.slice(0, -2) },
    ]
  })
}

/** The order of the base point of Ed25519. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n

/** Small-order points as keys and as R, keys and R with a torsion component, damaged signatures. */
function edgeCaseSignatures(): Questions['signatures'] {
  const key = keyOf(7)
  const message = new Uint8Array(32).fill(3)
  const signature = key.sign(message)
  const cases = [[signature, message, key.publicKey]]
  for (let bit = 0; bit < 512; bit += 3) {
    const changed = Uint8Array.from(signature)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    cases.push([changed, message, key.publicKey])
  }
  const odd = oddPoints()
  for (const a of odd)
    for (const r of odd) cases.push([Uint8Array.of(...r, ...new Uint8Array(32)), message, a])

  const torsion = fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
  for (let seed = 1; seed <= 64; seed++) {
    const [A, R] = [key.publicKey, keyOf(100 + seed).publicKey]
    for (const [publicKey, r] of [
      [add(A, torsion), R],
      [A, add(R, torsion)],
      [add(A, torsion), add(R, torsion)],
    ] as const) {
      const h = numberOf(createHash('sha512').update(r).update(publicKey).update(message).digest()) % order
      const s = littleEndian((secretOf(100 + seed) + h * secretOf(7)) % order)
      cases.push([Uint8Array.of(...r, ...s), message, publicKey])
    }
  }
  return cases.map((parts) => parts.map(toHex) as [string, string, string])
}

/** The encodings of points of small order, then every encoding whose y is not below p. */
function oddPoints(): Uint8Array[] {
  const p = 2n ** 255n - 19n
  const order8 = numberOf(fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'))
  const ys = [0n, 1n, p - 1n, order8, p - order8, ...Array.from({ length: 19 }, (_, i) => p + BigInt(i))]
  return ys.flatMap((y) => [littleEndian(y), littleEndian(y + 2n ** 255n)])
}

function secretOf(seed: number): bigint {
  const bytes = createHash('sha512').update(Buffer.alloc(32, seed)).digest().subarray(0, 32)
  bytes[0] = (bytes[0] as number) & 248
  bytes[31] = ((bytes[31] as number) & 63) | 64
  return numberOf(bytes)
}

function add(a: Uint8Array, b: Uint8Array): Uint8Array {
  const sum = Buffer.alloc(32)
  sodium.crypto_core_ed25519_add(sum, Buffer.from(a), Buffer.from(b))
  return sum
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
}
