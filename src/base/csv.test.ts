import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CsvRow, readCsv } from './csv.ts'

async function* piecesOf(text: string, length: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

test('line breaks of any system end a record, however the file is cut into pieces', async () => {
  for (const end of ['\r\n', '\n', '\r']) {
    const text = ['a,ä', '', `"1${end}1","2"",${end}${end}"`, '3,4'].join(end)
    const expected = [
      { line: 1, cells: ['a', 'ä'] },
      { line: 3, cells: [`1${end}1`, `2",${end}${end}`] },
      { line: 7, cells: ['3', '4'] },
    ]
    for (const length of [1, 2, 3, 1000]) {
      for (const last of ['', end]) {
        const rows: CsvRow[] = []
        for await (const row of readCsv(piecesOf(text + last, length))) rows.push(row)
        assert.deepEqual(rows, expected)
      }
    }
  }
})
