import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run } from './test/run.js'
import { pay, withNode } from './test/store-node.js'

vi.setConfig({ testTimeout: 240_000 })

test('a ledger is exported, and its transactions are submitted to the node that begins with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-migrate-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [DATA_DIR, to] = [join(folder, "old node's"), join(folder, 'exported')]
  const hashes = await withNode({ DATA_DIR }, (url) => pay(url, 3))

  const url = 'postgres://me:opensesame@db/x'
  const refused = await run(['migrate', '--from', url, '--to', to])
  expect(refused).toMatchObject({ status: 2, error: expect.not.stringContaining('sesame') })
  expect(await run(['migrate', '--from', folder, '--to', to])).toMatchObject({
    status: 1,
    error: expect.stringContaining('it has no store'),
  })
  expect(await run(['migrate', '--from', '', '--to', to])).toMatchObject({ status: 2 })
  await expect(readdir(to)).rejects.toThrow('ENOENT')

  const exported = await run(['migrate', '--from', DATA_DIR, '--to', to, '--json'], { DATABASE_URL: url })
  expect(exported).toMatchObject({ status: 0, error: '' })
  const { outputs, transactions } = JSON.parse(exported.out)
  expect(outputs).toMatchObject({ file: join(to, 'genesis.json'), count: 200 })
  expect(transactions).toEqual({ file: join(to, 'transactions.txt'), count: 3, expired: 0 })
  expect((await readFile(transactions.file, 'utf8')).split('\n')).toHaveLength(4)
  expect(await run(['migrate', '--from', DATA_DIR, '--to', to])).toMatchObject({
    status: 1,
    error: expect.stringContaining('is not empty'),
  })
  expect((await run(['migrate', '--from', DATA_DIR, '--to', join(folder, "new node's")])).out).toMatch(
    /GENESIS_FILE='.*new node'\\''s.*' LEDGER_VERSION=11.*ratatosk submit '.*Left behind:.*dead letters/s,
  )

  const place = { DATA_DIR: join(folder, 'new'), GENESIS_FILE: outputs.file }
  await withNode(place, async (url) => {
    const submit = () => run(['submit', transactions.file, '--url', url, '--json'])
    const report = { submitted: 3, accepted: 3, refused: 0, refusals: [] }
    for (const { status, out } of [await submit(), await submit()])
      expect([status, JSON.parse(out)]).toEqual([0, report])
    const client = createClient(url)
    for (const tx_hash of hashes)
      expect(await client.getTransactionStatus({ tx_hash })).toMatchObject({ status: 'mempool' })

    await appendFile(transactions.file, '\n84a0\nno hex\n')
    const bad = await run(['submit', transactions.file, '--url', url])
    expect(bad.status).toBe(1)
    expect(bad.out).toMatch(/^submitted 5, accepted 3, refused 2\nline [56]: .*\nline [56]: /)
    for (const unreadable of [join(folder, 'none'), folder])
      expect(await run(['submit', unreadable, '--url', url])).toMatchObject({
        status: 1,
        error: expect.stringContaining('cannot be read'),
      })
  })
})
