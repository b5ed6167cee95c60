/** @example counted(1, 'payment') // '1 payment' */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
