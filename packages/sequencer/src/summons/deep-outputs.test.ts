import { fromHex } from '@ratatosk/cbor'
import { decodeBech32Address } from '@ratatosk/ledger'
import type { OutputContent } from '@ratatosk/ledger/builder'
import { administratorAddress } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { payOdd } from '../../../layer1/dist/test/pay-odd.js'
import { until } from '../test/agreement.js'
import { openAnswering } from '../test/answering.js'
import { chunkOf, summonsContracts as contracts } from '../test/asking.js'
import { accept, transfers } from '../test/rollup.js'
import { administratorKeys, operatorKeys } from '../test/rollup-contracts.js'
import { answerKeys } from './answer-wallet.js'

const value = { lovelace: 60_000_000n, assets: new Map() }
const datum = { kind: 'inline', data: fromHex(`${'81'.repeat(1100)}00`) } as const
const deepScript = { language: 'native', bytes: fromHex(`${'820181'.repeat(600)}820400`) } as const

/* Anyone pays outputs that are nested deeper than layer 2 allows to an operator. */

test('an operator answers and commits whatever outputs its wallets get', async (context) => {
  const { store, chain, block, asker, sequencer } = await openAnswering(context, transfers(2))
  const administrator = decodeBech32Address(administratorAddress(contracts))
  const poison = [answerKeys(operatorKeys).address, operatorKeys.address, administrator].flatMap(
    ({ bytes: address }): readonly OutputContent[] => [
      { address, value, datum },
      { address, value, datum: { kind: 'none' }, referenceScript: deepScript },
    ],
  )
  const { script } = contracts.summons!
  const lure = { address: administrator.bytes, value, datum, referenceScript: script }
  for (const contents of [poison, [lure]])
    await chain.layer1.await(await payOdd(chain.layer1, administratorKeys, contents))

  const asked = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(asked))
  await accept(store, transfers(2, 2))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
})
