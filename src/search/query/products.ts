/** Products whose names do not say who makes them, by their maker. */
const products: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    adobe: 'photoshop lightroom',
    alibaba: 'alipay taobao',
    amazon: 'alexa aws kindle',
    anthropic: 'claude',
    apple: 'icloud imessage siri',
    atlassian: 'bitbucket confluence jira trello',
    facebook: 'instagram messenger whatsapp',
    google: 'bigquery firebase gemini gmail youtube',
    meta: 'facebook instagram whatsapp',
    microsoft: 'azure bing onedrive outlook sharepoint skype',
    openai: 'chatgpt gpt',
    tencent: 'wechat weixin',
  }).map(([maker, names]) => [maker, names.split(' ')]),
)
/** The products of a maker, whose name is folded: who does not want Google does not want Gmail. */
export function productsOf(maker: string): readonly string[] {
  return products.get(maker) ?? []
}
