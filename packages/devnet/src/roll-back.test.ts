import { describe, expect, it } from 'vitest'
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
