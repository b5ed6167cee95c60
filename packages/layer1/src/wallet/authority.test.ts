import { toHex } from '@ratatosk/cbor'
import { encodeBech32Address, outputReferenceKey, scriptAddress } from '@ratatosk/ledger'
import { nativeScript } from '@ratatosk/ledger/builder'
import { expect, it } from 'vitest'
import { createDevnetLayer1 } from '../providers/devnet/create-devnet-layer1.js'
import { emptyKeys, keys, limits, openDevnet } from '../test/devnet-harness.js'
import { keyAuthority, scriptAuthority } from './authority.js'
import { openWallet } from './open-wallet.js'

const script = nativeScript(
  JSON.stringify({
    type: 'all',
    scripts: [keys, emptyKeys].map(({ payment }) => ({ type: 'sig', keyHash: toHex(payment.hash) })),
  }),
)
const address = encodeBech32Address(scriptAddress(script.hash, 0))
const pay = { outputs: [{ address: emptyKeys.addressText, lovelace: 5_000_000n }] }

it('shows the authority of a script by an output that each transaction hands to the next', async () => {
  const devnet = await openDevnet(2)
  const layer1 = createDevnetLayer1(devnet, limits)
  try {
    const authority = scriptAuthority({ layer1, script, keys: [keys.payment, emptyKeys.payment] })
    const payer = openWallet({ layer1, keys, withholdMs: 0 })
    const wallet = authority.over(payer)
    // The first needs an output at the script, which must not be paid for with what the draft names.
    const [named] = await layer1.utxosAt(keys.addressText)
    const began = wallet.build({ ...pay, inputs: [{ utxo: named! }] })
    while (devnet.mempool().length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await devnet.produceBlock()
    const first = await began
    const second = await wallet.build(pay)
    for (const built of [first, second]) await wallet.submit(built)
    await devnet.produceBlock()
    for (const { id, spent } of [first, second]) {
      expect((await layer1.status(id)).kind).toBe('confirmed')
      expect(spent.some(({ output }) => encodeBech32Address(output.address as never) === address)).toBe(true)
    }
    expect(first.spent.map(({ reference }) => outputReferenceKey(reference))).toContain(
      outputReferenceKey(named!.reference),
    )

    // A stranger leaves an output there with a datum: it is not used.
    await payer.send({
      outputs: [{ address, lovelace: 3_000_000n, datum: { kind: 'inline', data: Uint8Array.of(0x40) } }],
    })
    await devnet.produceBlock()
    const third = await wallet.send(pay)
    await devnet.produceBlock()
    expect((await layer1.status(third.id)).kind).toBe('confirmed')
    expect(await layer1.utxosAt(address)).toHaveLength(2)
  } finally {
    await devnet.close()
  }
})

it('shows the authority of a key by its signature', async () => {
  const devnet = await openDevnet()
  const layer1 = createDevnetLayer1(devnet, limits)
  try {
    const payer = openWallet({ layer1, keys, withholdMs: 0 })
    const draft = { ...pay, requiredSigners: [emptyKeys.payment.hash] }
    await expect(payer.build(draft)).rejects.toMatchObject({ code: 'WALLET_INVALID_DRAFT' })
    await keyAuthority(emptyKeys.payment).over(payer).send(draft)
    expect(devnet.mempool()).toHaveLength(1)
  } finally {
    await devnet.close()
  }
})
