import { fail } from '../failures.js'
import { boolConstant, bytesConstant, Constant, dataConstant, integerConstant } from '../values/constant.js'
import { constructorPairType, dataListType, dataPairListType, dataPairType } from '../values/constant-type.js'
import { type DataValue, equalData, type Pair } from '../values/data.js'
import { encodeData } from '../values/data-cbor.js'
import type { LinkedList } from '../values/list.js'
import { anyAt, builtin, bytesAt, contentOf, dataAt, integerAt, unitAt } from './builtin.js'

const maxIndex = 2n ** 64n - 1n

/** The order of `chooseData`'s branches. */
const branches: { readonly [kind in DataValue['kind']]: number } = {
  constructor: 1,
  map: 2,
  list: 3,
  integer: 4,
  bytes: 5,
}

function wrong(wanted: string): never {
  return fail(`The data is not ${wanted}`)
}

export const dataBuiltins = {
  chooseData: builtin(1, 6, (args) => anyAt(args, branches[dataAt(args, 0).kind])),
  constrData: builtin(0, 2, (args, { bounded }) => {
    const index = integerAt(args, 0)
    const fields = contentOf(args, 1, dataListType) as LinkedList<DataValue>
    if (bounded && (index < 0n || index > maxIndex)) fail('constrData: the index is out of bounds')
    return dataConstant({ kind: 'constructor', index, fields })
  }),
  mapData: builtin(0, 1, (args) =>
    dataConstant({
      kind: 'map',
      entries: contentOf(args, 0, dataPairListType) as LinkedList<Pair<DataValue, DataValue>>,
    }),
  ),
  listData: builtin(0, 1, (args) =>
    dataConstant({ kind: 'list', items: contentOf(args, 0, dataListType) as LinkedList<DataValue> }),
  ),
  iData: builtin(0, 1, (args) => dataConstant({ kind: 'integer', value: integerAt(args, 0) })),
  bData: builtin(0, 1, (args) => dataConstant({ kind: 'bytes', value: bytesAt(args, 0) })),
  unConstrData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    if (data.kind !== 'constructor') return wrong('a constructor')
    return new Constant(constructorPairType, { first: data.index, second: data.fields })
  }),
  unMapData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'map' ? new Constant(dataPairListType, data.entries) : wrong('a map')
  }),
  unListData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'list' ? new Constant(dataListType, data.items) : wrong('a list')
  }),
  unIData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'integer' ? integerConstant(data.value) : wrong('an integer')
  }),
  unBData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'bytes' ? bytesConstant(data.value) : wrong('a byte string')
  }),
  equalsData: builtin(0, 2, (args) => boolConstant(equalData(dataAt(args, 0), dataAt(args, 1)))),
  mkPairData: builtin(
    0,
    2,
    (args) => new Constant(dataPairType, { first: dataAt(args, 0), second: dataAt(args, 1) }),
  ),
  mkNilData: builtin(0, 1, (args) => {
    unitAt(args, 0)
    return new Constant(dataListType, null)
  }),
  mkNilPairData: builtin(0, 1, (args) => {
    unitAt(args, 0)
    return new Constant(dataPairListType, null)
  }),
  serialiseData: builtin(0, 1, (args) => bytesConstant(encodeData(dataAt(args, 0)))),
}
