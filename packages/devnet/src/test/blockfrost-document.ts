import { getSchemaForEndpoint } from '@blockfrost/openapi'
import { Ajv, type ValidateFunction } from 'ajv'

const ajv = new Ajv({ strict: false, allErrors: true, verbose: true })
const validators = new Map<string, ValidateFunction>()

/** The parts of an answer that the document of Blockfrost does not allow. @param template the path in it */
export function faultsOf(template: string, json: unknown): string | undefined {
  const schema = getSchemaForEndpoint(template).response[200]
  const validate = validators.get(template) ?? ajv.compile(schema)
  validators.set(template, validate)
  validate(json)
  // The document forgets null in the lists of values that may be null.
  const faults = validate.errors?.filter(({ data, parentSchema }) => data !== null || !parentSchema?.nullable)
  return faults?.length ? ajv.errorsText(faults) : undefined
}
