import { decodeHeader, headerFieldIndex } from '@ratatosk/block'
import { encodeAsk, nodeKey } from '@ratatosk/fraud'
import { askQuestion, readQuestions } from '@ratatosk/protocol'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { bothBackends } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { besideNode } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

ignoreAnswers('/metrics')

t.test('on a new devnet an honest node answers questions about its blocks', async (t) => {
  const [embedded] = await bothBackends()
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await embedded.place(t)),
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '10000',
    MATURITY_WINDOW_MS: '600000',
    SERVE_METRICS: 'true',
    OPERATOR_TOKEN: 'secret',
  }
  const node = await runNode(t, environment)
  await initialised(node.url)
  const { transfer } = await transferFrom(5, 0)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const newest = () => node.store.blocks.newest()
  await until(async () => (await newest())?.state === 'committed', { what: 'a block is committed' })
  const block = (await newest())!
  const header = decodeHeader(block.header)

  const { contracts, port, walletOf, readScripts } = await besideNode(t, layer1.devnet, environment)
  const [stranger, slots] = [walletOf(3), await port.slots()]
  const { utxosRoot, transactionsRoot } = headerFieldIndex
  const top = { kind: 'subtree', key: nodeKey(new Uint8Array(32), 0) } as const
  const wanted = [
    { ...top, root: utxosRoot, hash: header.utxosRoot },
    { ...top, root: transactionsRoot, hash: header.transactionsRoot },
    { kind: 'chunk', root: transactionsRoot, key: new Uint8Array(4), hash: header.transactionsRoot },
  ] as const
  const questions = async () =>
    readQuestions(contracts, await port.utxosByPolicy(contracts.summons!.policy)).length
  for (const each of wanted) {
    const { hash: refund } = stranger.keys.payment
    const draft = askQuestion(
      contracts,
      {
        question: { ...each, headerHash: block.headerHash, refund },
        redeemer: encodeAsk(header, []),
        // Two minutes: a busy machine takes long to build it.
        validUntil: (await port.currentSlot()) + 120_000n / BigInt(slots.slotLength),
        slots,
      },
      await readScripts(),
    )
    const { id } = await stranger.send(draft)
    await port.await(id)
  }
  await until(async () => (await questions()) === 0, { what: 'every question is answered' })
  t.equal((await ask(`${node.url}/health/ready`)).status, 200)
  const metrics = async () =>
    (await ask(`${node.url}/metrics`, { headers: { authorization: 'Bearer secret' } })).body
  await until(async () => /^ratatosk_questions_open 0$/m.test(await metrics()), { what: 'none is open' })
  // An answer that expires before layer 1 includes it is sent again.
  t.match(await metrics(), /^ratatosk_answers_total ([3-9]|\d\d+)$/m)
  t.match(await metrics(), /^ratatosk_questions_first_deadline_timestamp_seconds 0$/m)
  t.ok((await newest())!.height >= block.height, 'the block stands')
})
