import { headerHash } from '@ratatosk/block'
import { findWitnessFraud } from '@ratatosk/fraud'
import { describe, expect, it } from 'vitest'
import { witnessFraudScript } from '../../../fraud/scripts.js'
import { engines, parameters } from '../../../test/evaluate.js'
import { mintingOf } from '../../../test/fraud/minting.js'
import { witnessLies } from '../../../test/fraud/witness/lies.js'
import { honestStory } from '../../../test/fraud/witness/story.js'

const script = witnessFraudScript(parameters)

describe('findWitnessFraud', () => {
  const judge = engines.cek

  it.each(witnessLies)('finds a fraud that the policy accepts where $what', ({ block, prove }) => {
    const found = findWitnessFraud(block, parameters)
    // Several rules may be broken: the redeemer of an absent script is extra, which is no fraud.
    expect(found).toMatchObject({ proof: { fraud: prove(block).fraud } })
    const { redeemer } = found!
    expect(judge(mintingOf({ script, redeemer, name: headerHash(block.header) }))).toMatchObject({
      ok: true,
    })
  })

  it('finds nothing in the honest block', () => {
    expect(findWitnessFraud(honestStory, parameters)).toBeUndefined()
  })

  it('finds what needs no outputs before the block where these are unknown', () => {
    const [badSignature, , , missingKey] = witnessLies
    const unknown = ({ outputBefore: _, ...block }: typeof honestStory) => block
    expect(findWitnessFraud(unknown(badSignature!.block), parameters)).toBeDefined()
    expect(findWitnessFraud(unknown(missingKey!.block), parameters)).toBeUndefined()
  })
})
