import type { PlutusLanguage } from '../../../transaction/types.js'
import type { BuiltinName } from '../builtins/names.js'
import type { Measure } from './measures.js'
import type { CostShape } from './shapes.js'

/** How a builtin is charged: steps, memory, and how each argument is measured. */
export type Charging = readonly [steps: CostShape, memory: CostShape, measures: readonly Measure[]]

/**
 * The charging of every builtin. Languages and ledger versions differ only in integer division: the
 * semantics variants of plutus-core are B (V1 and V2 up to ledger version 10), C (V3), D and E (since 11).
 */
export function chargings(
  language: PlutusLanguage,
  protocolMajor: number,
): { readonly [name in BuiltinName]: Charging } {
  const third = language === 'PlutusV3'
  const quotient: CostShape = third
    ? 'aboveDiagonalConstantElseQuadratic'
    : 'aboveDiagonalConstantElseProduct'
  const since11: CostShape = third ? 'quadraticOfGreaterAndLesser' : 'product'
  const divide = protocolMajor >= 11 ? since11 : quotient
  const modulusOfOld: CostShape = protocolMajor >= 11 ? 'linearInYPastMinimum' : 'subtractedSizes'
  const modulus: CostShape = third ? 'linearInY' : modulusOfOld
  return {
    addInteger: ['maxSize', 'maxSize', ['integer', 'integer']],
    subtractInteger: ['maxSize', 'maxSize', ['integer', 'integer']],
    multiplyInteger: ['multipliedSizes', 'addedSizes', ['integer', 'integer']],
    divideInteger: [divide, 'subtractedSizes', ['integer', 'integer']],
    quotientInteger: [quotient, 'subtractedSizes', ['integer', 'integer']],
    remainderInteger: [quotient, modulus, ['integer', 'integer']],
    modInteger: [divide, modulus, ['integer', 'integer']],
    equalsInteger: ['minSize', 'constant', ['integer', 'integer']],
    lessThanInteger: ['minSize', 'constant', ['integer', 'integer']],
    lessThanEqualsInteger: ['minSize', 'constant', ['integer', 'integer']],
    appendByteString: ['addedSizes', 'addedSizes', ['bytes', 'bytes']],
    consByteString: ['linearInY', 'addedSizes', ['integer', 'bytes']],
    sliceByteString: ['linearInZ', 'linearInZ', ['ignored', 'ignored', 'bytes']],
    lengthOfByteString: ['constant', 'constant', []],
    indexByteString: ['constant', 'constant', []],
    equalsByteString: ['linearOnDiagonal', 'constant', ['bytes', 'bytes']],
    lessThanByteString: ['minSize', 'constant', ['bytes', 'bytes']],
    lessThanEqualsByteString: ['minSize', 'constant', ['bytes', 'bytes']],
    sha2_256: ['linearInX', 'constant', ['bytes']],
    sha3_256: ['linearInX', 'constant', ['bytes']],
    blake2b_256: ['linearInX', 'constant', ['bytes']],
    verifyEd25519Signature: ['linearInY', 'constant', ['ignored', 'bytes']],
    appendString: ['addedSizes', 'addedSizes', ['text', 'text']],
    equalsString: ['linearOnDiagonal', 'constant', ['text', 'text']],
    encodeUtf8: ['linearInX', 'linearInX', ['text']],
    decodeUtf8: ['linearInX', 'linearInX', ['bytes']],
    ifThenElse: ['constant', 'constant', []],
    chooseUnit: ['constant', 'constant', []],
    trace: ['constant', 'constant', []],
    fstPair: ['constant', 'constant', []],
    sndPair: ['constant', 'constant', []],
    chooseList: ['constant', 'constant', []],
    mkCons: ['constant', 'constant', []],
    headList: ['constant', 'constant', []],
    tailList: ['constant', 'constant', []],
    nullList: ['constant', 'constant', []],
    chooseData: ['constant', 'constant', []],
    constrData: ['constant', 'constant', []],
    mapData: ['constant', 'constant', []],
    listData: ['constant', 'constant', []],
    iData: ['constant', 'constant', []],
    bData: ['constant', 'constant', []],
    unConstrData: ['constant', 'constant', []],
    unMapData: ['constant', 'constant', []],
    unListData: ['constant', 'constant', []],
    unIData: ['constant', 'constant', []],
    unBData: ['constant', 'constant', []],
    equalsData: ['minSize', 'constant', ['lesserData', 'lesserData']],
    mkPairData: ['constant', 'constant', []],
    mkNilData: ['constant', 'constant', []],
    mkNilPairData: ['constant', 'constant', []],
    serialiseData: ['linearInX', 'linearInX', ['data']],
    verifyEcdsaSecp256k1Signature: ['constant', 'constant', []],
    verifySchnorrSecp256k1Signature: ['linearInY', 'constant', ['ignored', 'bytes']],
    bls12_381_G1_add: ['constant', 'constant', []],
    bls12_381_G1_neg: ['constant', 'constant', []],
    bls12_381_G1_scalarMul: ['linearInX', 'constant', ['integer']],
    bls12_381_G1_equal: ['constant', 'constant', []],
    bls12_381_G1_compress: ['constant', 'constant', []],
    bls12_381_G1_uncompress: ['constant', 'constant', []],
    bls12_381_G1_hashToGroup: ['linearInX', 'constant', ['bytes']],
    bls12_381_G2_add: ['constant', 'constant', []],
    bls12_381_G2_neg: ['constant', 'constant', []],
    bls12_381_G2_scalarMul: ['linearInX', 'constant', ['integer']],
    bls12_381_G2_equal: ['constant', 'constant', []],
    bls12_381_G2_compress: ['constant', 'constant', []],
    bls12_381_G2_uncompress: ['constant', 'constant', []],
    bls12_381_G2_hashToGroup: ['linearInX', 'constant', ['bytes']],
    bls12_381_millerLoop: ['constant', 'constant', []],
    bls12_381_mulMlResult: ['constant', 'constant', []],
    bls12_381_finalVerify: ['constant', 'constant', []],
    keccak_256: ['linearInX', 'constant', ['bytes']],
    blake2b_224: ['linearInX', 'constant', ['bytes']],
    integerToByteString: ['quadraticInZ', 'literalInYOrLinearInZ', ['ignored', 'wordsOfBytes', 'integer']],
    byteStringToInteger: ['quadraticInY', 'linearInY', ['ignored', 'bytes']],
    andByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
    orByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
    xorByteString: ['linearInYAndZ', 'linearInMaxYZ', ['ignored', 'bytes', 'bytes']],
    complementByteString: ['linearInX', 'linearInX', ['bytes']],
    readBit: ['constant', 'constant', []],
    writeBits: ['linearInY', 'linearInX', ['bytes', 'list']],
    replicateByte: ['linearInX', 'linearInX', ['wordsOfBytes']],
    shiftByteString: ['linearInX', 'linearInX', ['bytes']],
    rotateByteString: ['linearInX', 'linearInX', ['bytes']],
    countSetBits: ['linearInX', 'constant', ['bytes']],
    findFirstSetBit: ['linearInX', 'constant', ['bytes']],
    ripemd_160: ['linearInX', 'constant', ['bytes']],
    expModInteger: ['expMod', 'linearInZ', ['integer', 'integer', 'integer']],
    dropList: ['linearInX', 'constant', ['literal']],
    lengthOfArray: ['constant', 'constant', []],
    listToArray: ['linearInX', 'linearInX', ['list']],
    indexArray: ['constant', 'constant', []],
    bls12_381_G1_multiScalarMul: ['linearInX', 'constant', ['list']],
    bls12_381_G2_multiScalarMul: ['linearInX', 'constant', ['list']],
    insertCoin: ['linearInU', 'linearInU', ['ignored', 'ignored', 'ignored', 'coinsDepth']],
    lookupCoin: ['linearInZ', 'constant', ['ignored', 'ignored', 'coinsDepth']],
    unionValue: ['withInteraction', 'addedSizes', ['coins', 'coins']],
    valueContains: ['aboveDiagonalConstantElseLinear', 'constant', ['coins', 'coins']],
    valueData: ['linearInX', 'linearInX', ['coins']],
    unValueData: ['quadraticInX', 'linearInX', ['dataNodes']],
    scaleValue: ['linearInY', 'linearInY', ['ignored', 'coins']],
  }
}
