/** Shared options, and validation of their values. */
import { InvalidArgumentError, Option } from 'commander'

/** The database, an option of every command. */
export const databaseOption = () =>
  new Option('--database <url>', 'where the data is: sqlite:PATH or postgres://…')
    .env('DATABASE_URL')
    .argParser(databaseUrl)
    .default('sqlite:./data/affiliated.db')

export const secretKeyOption = () =>
  new Option(
    '--secret-key-file <path>',
    'file with the key that encrypts payment details, secrets of sources and second factors; SECRET_KEY gives the key itself (default: next to an embedded database, created at the first start)',
  ).env('SECRET_KEY_FILE')

/** Prints one JSON object instead of text. */
export const jsonOption = () => new Option('--json', 'print one JSON object and nothing else')

/**
 * Refuses plain paths only. Other URLs are checked when they are opened: commander would print a refused value,
 * including its password.
 */
export function databaseUrl(text: string): string {
  if (/^[a-z][a-z+]+:/i.test(text)) return text
  throw new InvalidArgumentError(
    text === '' ? 'It must begin with sqlite: or postgres://.' : `Did you mean sqlite:${text}?`,
  )
}

/** Columns of an imported file that are no arguments. */
export const ignoreOption = () =>
  new Option('--ignore <names>', 'columns to ignore, separated by commas')
    .argParser(text => text.split(',').map(name => name.trim().toLowerCase()))
    .default([])

/** A record's identifier, as an argument. */
export const identifier = wholeNumber(1, Number.MAX_SAFE_INTEGER)

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`)
    }
    return value
  }
}
