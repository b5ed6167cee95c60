import { describe, expect, it } from 'vitest'
import { createMemoryStore } from './store/memory-store.js'
import { open } from './test/manual-devnet.js'
import { first, payment, utxoSet } from './test/scenes.js'

describe('rollBack', () => {
  it('restores exactly the unspent outputs of the older block', async () => {
    const { devnet } = await open()
    const sets = [utxoSet(devnet)]
    let input = first
    let change = 89_800_000n
    for (let block = 0; block < 4; block++) {
      const next = payment(input, change)
      await devnet.submit(next.cbor)
      await devnet.produceBlock()
      sets.push(utxoSet(devnet))
      input = `${next.hash}#1`
      change -= 10_200_000n
    }
    expect(await devnet.rollBack(1)).toMatchObject({ height: 3 })
    expect(utxoSet(devnet)).toEqual(sets[3])
    expect(await devnet.rollBack(3)).toMatchObject({ height: 0 })
    expect(utxoSet(devnet)).toEqual(sets[0])
  })

  it('loses the transactions, or returns them to the mempool', async () => {
    const { devnet } = await open()
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    await devnet.rollBack(1, { resubmit: true })
    expect(devnet.status(one.hash)).toEqual({ status: 'pending' })
    await devnet.produceBlock()
    await devnet.rollBack(1)
    expect(devnet.status(one.hash)).toEqual({ status: 'unknown' })
    expect(await devnet.submit(one.cbor)).toMatchObject({ kind: 'accepted' })
  })

  it('drops pending transactions that spend outputs of the undone blocks', async () => {
    const { devnet } = await open()
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    await devnet.submit(payment(`${one.hash}#1`, 79_600_000n).cbor)
    await devnet.rollBack(1)
    expect(devnet.mempool()).toEqual([])
  })

  it('rejects more blocks than the chain has or the security parameter allows', async () => {
    const { devnet } = await open({ securityParameter: 2 })
    await devnet.produceBlock()
    await expect(devnet.rollBack(2)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.produceBlock()
    await devnet.produceBlock()
    await expect(devnet.rollBack(3)).rejects.toMatchObject({ code: 'DEVNET_ROLLBACK_TOO_DEEP' })
    await devnet.rollBack(2)
    expect(devnet.tip().height).toBe(1)
  })

  it.each([-1, 1.5, Number.NaN])('rejects %s blocks', async (blocks) => {
    const { devnet } = await open()
    await expect(devnet.rollBack(blocks)).rejects.toMatchObject({ code: 'DEVNET_CONFIGURATION' })
  })
})

describe('rollBackTo', () => {
  it('undoes the block of a transaction, also when another block is made meanwhile', async () => {
    const memory = createMemoryStore()
    let held: Promise<void> | undefined
    const store = {
      ...memory,
      async addBlock(...block: Parameters<typeof memory.addBlock>) {
        await held
        return memory.addBlock(...block)
      },
    }
    const { devnet } = await open({ store })
    const one = payment()
    await devnet.submit(one.cbor)
    await devnet.produceBlock()
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const block = devnet.produceBlock()
    const rolledBack = devnet.rollBackTo(one.hash, { resubmit: true })
    release()
    expect(await block).toMatchObject({ height: 2 })
    expect(await rolledBack).toMatchObject({ height: 0 })
    expect(devnet.status(one.hash)).toEqual({ status: 'pending' })
  })

  it('rejects a transaction that no block contains', async () => {
    const { devnet } = await open()
    const one = payment()
    const failure = { code: 'DEVNET_NOT_IN_A_BLOCK' }
    await expect(devnet.rollBackTo(one.hash)).rejects.toMatchObject(failure)
    await devnet.submit(one.cbor)
    await expect(devnet.rollBackTo(one.hash)).rejects.toMatchObject(failure)
  })
})
