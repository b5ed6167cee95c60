import { fromHex, toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import type { Store } from '@ratatosk/store'
import { acceptedOf } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

/** Puts a transaction with a wrong signature into the mempool. */
async function acceptForged(store: Store, cborHex: string): Promise<void> {
  const cbor = fromHex(cborHex)
  // Behind the head of a byte string of 64 bytes.
  const signature = Buffer.from(cbor).indexOf('5840', 'hex') + 2
  cbor[signature] = (cbor[signature] ?? 0) ^ 1
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(cbor)] }))
}

t.test(
  'after init a node needs only the hash of the administrator, who comes back to remove a block, ' +
    'whose transactions are validated again',
  async (t) => {
    const layer1 = await devnetServer(t)
    const environment = {
      ...(await anyPlacement(t)),
      ...layer1.settings,
      AUTO_COMMIT: 'false',
      AUTO_MERGE: 'false',
      MATURITY_WINDOW_MS: '1000',
      // Each node commits soon after its start, while the threads that run its scripts are starting too.
      BLOCK_VALIDITY_MS: '20000',
    }
    const first = await runNode(t, environment)
    await initialised(first.url)
    await first.close()

    const { payment } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0 })
    const hash = toHex(payment.hash)
    const node = await runNode(t, { ...environment, ADMIN_KEY_HASH: hash })
    const get = async (path: string) => {
      const { status, body } = await ask(`${node.url}${path}`)
      return { status, ...JSON.parse(body) }
    }
    t.equal(node.stateQueueAddress, first.stateQueueAddress, 'the same deployment')

    const commit = async (place: number) => {
      const { transfer } = await transferFrom(5, place)
      t.equal((await submit(node.url, transfer.cborHex)).status, 200)
      await until(async () => (await get(`/tx?tx_hash=${transfer.hash}`)).status === 200)
      return { transfer, answer: await get('/commit') }
    }
    t.match((await commit(0)).answer, { status: 200, transactions: 1 })
    await until(async () => String((await get('/merge')).message).startsWith('Merging confirmed state'))

    // A transfer that validation would never accept, as in the block of an operator who lies.
    const forged = (await transferFrom(5, 2)).transfer
    await acceptForged(node.store, forged.cborHex)
    const { transfer, answer } = await commit(1)
    t.match(answer, { status: 200, transactions: 2 })
    const { headerHash } = answer
    const error = new RegExp(
      `^This needs the signature of the administrator \\(key ${hash}\\): .*ADMIN_SEED_PHRASE_FILE`,
    )
    t.match(await get('/reset'), { status: 409, error })
    t.match(await get(`/remove?header_hash=${headerHash}`), { status: 409, error })
    t.match(await get('/init'), { status: 409, count: 1 })
    t.same((await get('/stateQueue')).headers, [headerHash], 'nothing has changed')
    await node.close()

    const last = await runNode(t, environment)
    const remove = await ask(`${last.url}/remove?header_hash=${headerHash.toUpperCase()}`)
    t.equal(remove.status, 200, remove.body)
    t.match(JSON.parse(remove.body), { headerHash, removed: [headerHash] })
    t.same(JSON.parse((await ask(`${last.url}/stateQueue`)).body).headers, [])
    const isBack = async ({ hash }: { hash: string }) =>
      (await ask(`${last.url}/tx?tx_hash=${hash}`)).status === 200
    await until(() => isBack(transfer))
    await until(async () => (await last.store.rejections.findTransaction(fromHex(forged.hash))) !== undefined)
    t.match(await last.store.rejections.findTransaction(fromHex(forged.hash)), {
      code: 'InvalidWitnessesUTXOW',
    })
    t.notOk(await isBack(forged))
    t.match(await last.store.resubmissions.ofTransaction(fromHex(forged.hash)), [
      { block: { headerHash: fromHex(headerHash) } },
    ])
    const again = JSON.parse((await ask(`${last.url}/commit`)).body)
    t.equal(again.transactions, 1, 'the transaction is committed again')
    const { hashes } = JSON.parse((await ask(`${last.url}/block?header_hash=${again.headerHash}`)).body)
    t.same(hashes, [transfer.hash])
    t.same(JSON.parse((await ask(`${last.url}/block?header_hash=${headerHash}`)).body).hashes, [])
  },
)
