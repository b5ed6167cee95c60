import type { PlutusLanguage } from '../../../transaction/types.js'
import type { BuiltinName } from '../builtins/names.js'

/** The steps of the machine, and its startup cost. */
export const machineSteps = [
  'var',
  'delay',
  'lam',
  'apply',
  'const',
  'force',
  'builtin',
  'constr',
  'case',
  'startup',
] as const

export type MachineStep = (typeof machineSteps)[number]

/** The items that have parameters in a cost model. The steps of the machine are marked. */
export type Costed = BuiltinName | `@${MachineStep}`

/** The first parameters of Plutus V2 and V3, in alphabetical order: steps before memory. */
const original: readonly Costed[] = [
  'addInteger',
  'appendByteString',
  'appendString',
  'bData',
  'blake2b_256',
  '@apply',
  '@builtin',
  '@const',
  '@delay',
  '@force',
  '@lam',
  '@startup',
  '@var',
  'chooseData',
  'chooseList',
  'chooseUnit',
  'consByteString',
  'constrData',
  'decodeUtf8',
  'divideInteger',
  'encodeUtf8',
  'equalsByteString',
  'equalsData',
  'equalsInteger',
  'equalsString',
  'fstPair',
  'headList',
  'iData',
  'ifThenElse',
  'indexByteString',
  'lengthOfByteString',
  'lessThanByteString',
  'lessThanEqualsByteString',
  'lessThanEqualsInteger',
  'lessThanInteger',
  'listData',
  'mapData',
  'mkCons',
  'mkNilData',
  'mkNilPairData',
  'mkPairData',
  'modInteger',
  'multiplyInteger',
  'nullList',
  'quotientInteger',
  'remainderInteger',
  'serialiseData',
  'sha2_256',
  'sha3_256',
  'sliceByteString',
  'sndPair',
  'subtractInteger',
  'tailList',
  'trace',
  'unBData',
  'unConstrData',
  'unIData',
  'unListData',
  'unMapData',
  'verifyEcdsaSecp256k1Signature',
  'verifyEd25519Signature',
  'verifySchnorrSecp256k1Signature',
]

/** Those that Plutus V1 did not have. */
const afterV1: readonly Costed[] = [
  'serialiseData',
  'verifyEcdsaSecp256k1Signature',
  'verifySchnorrSecp256k1Signature',
]
const sums: readonly Costed[] = ['@constr', '@case']
const curves: readonly Costed[] = [
  'bls12_381_G1_add',
  'bls12_381_G1_compress',
  'bls12_381_G1_equal',
  'bls12_381_G1_hashToGroup',
  'bls12_381_G1_neg',
  'bls12_381_G1_scalarMul',
  'bls12_381_G1_uncompress',
  'bls12_381_G2_add',
  'bls12_381_G2_compress',
  'bls12_381_G2_equal',
  'bls12_381_G2_hashToGroup',
  'bls12_381_G2_neg',
  'bls12_381_G2_scalarMul',
  'bls12_381_G2_uncompress',
  'bls12_381_finalVerify',
  'bls12_381_millerLoop',
  'bls12_381_mulMlResult',
  'keccak_256',
  'blake2b_224',
]
const conversions: readonly Costed[] = ['integerToByteString', 'byteStringToInteger']
const bits: readonly Costed[] = [
  'andByteString',
  'orByteString',
  'xorByteString',
  'complementByteString',
  'readBit',
  'writeBits',
  'replicateByte',
  'shiftByteString',
  'rotateByteString',
  'countSetBits',
  'findFirstSetBit',
  'ripemd_160',
]
const ledgerVersion11: readonly Costed[] = [
  'expModInteger',
  'dropList',
  'lengthOfArray',
  'listToArray',
  'indexArray',
  'bls12_381_G1_multiScalarMul',
  'bls12_381_G2_multiScalarMul',
  'insertCoin',
  'lookupCoin',
  'unionValue',
  'valueContains',
  'valueData',
  'unValueData',
  'scaleValue',
]

/** The order of a language's cost model (`ParamName` in plutus-ledger-api). A network's may be shorter. */
export const costOrder: { readonly [language in PlutusLanguage]: readonly Costed[] } = {
  PlutusV1: [
    ...original.filter((name) => !afterV1.includes(name)),
    ...afterV1,
    ...sums,
    ...curves,
    ...conversions,
    ...bits,
    ...ledgerVersion11,
  ],
  PlutusV2: [...original, ...conversions, ...sums, ...curves, ...bits, ...ledgerVersion11],
  PlutusV3: [...original, ...sums, ...curves, ...conversions, ...bits, ...ledgerVersion11],
}
