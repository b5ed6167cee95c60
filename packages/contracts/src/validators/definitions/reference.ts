/** A reference to a definition of the blueprint. */
export const reference = (name: string) => ({ $ref: `#/definitions/${name}` })

/** A constructor, with the definition of each of its fields. */
export const variant = (title: string, index: number, fields: readonly (readonly [string, string])[]) => ({
  title,
  dataType: 'constructor',
  index,
  fields: fields.map(([name, type]) => ({ title: name, ...reference(type) })),
})
