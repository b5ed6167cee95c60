import { isDeepStrictEqual } from 'node:util'

/** A JSON value of a document. */
type Json = unknown
type Fields = Record<string, Json>

/** Keywords that describe a schema and do not change what it accepts. */
const wording = ['description', 'examples'] as const

/**
 * Replaces every schema with a `title` by a reference to a component of that name. Equal schemas become one
 * component; their description stays if all agree. A schema that differs from the first of its title gets a
 * number behind its name. Components that the document has keep their names.
 *
 * @param document an OpenAPI 3.1 document; not changed
 * @returns a copy
 */
export function nameComponents<Document extends object>(document: Document): Document {
  const { paths, components = {}, ...rest } = document as Fields
  const { schemas: present = {}, ...others } = components as Fields
  const schemas = structuredClone(present) as Record<string, Fields>

  function componentOf(schema: Fields, title: string): string {
    const { title: _title, ...content } = schema
    for (let number = 1; ; number++) {
      const name = number === 1 ? title : `${title}${number}`
      const present = schemas[name]
      if (present === undefined) {
        schemas[name] = content
        return name
      }
      if (isDeepStrictEqual(without(present, wording), without(content, wording))) {
        for (const key of wording) if (!isDeepStrictEqual(present[key], content[key])) delete present[key]
        return name
      }
    }
  }

  function visit(value: Json, isSchema: boolean): Json {
    if (Array.isArray(value)) return value.map((item) => visit(item, isSchema))
    if (!isFields(value)) return value
    const copy: Fields = {}
    for (const [key, child] of Object.entries(value)) {
      // Headers belong to a response; in the part of a union they are no keyword.
      if (isSchema && key === 'headers') continue
      copy[key] = literal.has(key) ? child : visitChild(key, child, isSchema)
    }
    if (!isSchema || typeof copy.title !== 'string') return copy
    return { $ref: `#/components/schemas/${componentOf(copy, copy.title)}` }
  }

  function visitChild(key: string, child: Json, isSchema: boolean): Json {
    // The names of properties are not keywords.
    if (isSchema && key === 'properties' && isFields(child)) {
      return Object.fromEntries(Object.entries(child).map(([name, schema]) => [name, visit(schema, true)]))
    }
    return visit(child, isSchema || key === 'schema')
  }

  const named = visit(paths, false)
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)))
  return { ...rest, components: { ...others, schemas: sorted }, paths: named } as Document
}

/** Keywords whose values are data. */
const literal = new Set(['example', 'examples', 'default', 'enum', 'const', 'required'])

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function without(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))
}
