const named = (words: string): RegExp => new RegExp(`(?:^|[\\s_-])(?:${words})(?:$|[\\s_-])`, 'i')

/** Class names and ids of page parts that are not content. */
export const boilerplateName = named(
  'cookies?|consent|gdpr|breadcrumbs?|share|sharing|social|sidebar|newsletter|subscribe|promo|advert\\w*|ads?|popup|modal|navbar|nav|navigation|masthead|skip-link|footer|related\\w*|recommend\\w*|banner|menu|widget|toolbar|header|pagination|pager|login|signup|copyright|legal|cart|carousel|upsell|sponsor\\w*|filters?|facets?|trending|popular',
)
export const contentName = named(
  'content|article|post|entry|body|story|text|main|description|details?|product|spec\\w*|markdown|prose|richtext|rte|wysiwyg|summary|overview|topic|message|answer|question|docs?',
)
export const commentName = named('comments?|comment-?list|reviews?|replies|reply|respond|disqus|discussion')
export const metaName = named('meta|byline|author|date|time|tags?|category|categories|info|caption|credit')
export const boilerplateRole =
  /^(?:navigation|banner|contentinfo|search|alert|dialog|complementary|menu|toolbar)$/i

/** Texts of boilerplate. */
export const boilerplateText =
  /cookie|privacy|sign in|log ?in|subscribe|newsletter|share|copyright|©|all rights|add to (?:cart|bag|wishlist)|skip to|follow us|read more|view all|see all|terms of|learn more|shop now|load more|show more|back to|no thanks|advertisement|sign up|previous|next/i
/** Headings of sections that link to other pages. */
export const boilerplateHeading =
  /related|recommend|you may|you might|also (?:like|bought|viewed)|popular|trending|latest|more from|more in|comments|reviews|share|subscribe|newsletter|follow|about the author|categories|archives|recent|read next|up next|keep reading|similar|explore|customers|sign up|contact|references|relacionad|você pode|veja também|leia (?:também|mais)|mais lidas|últimas|comentários|también|más (?:leíd|notici)|lo más|comentarios|à lire|lire aussi|articles? (?:similaires|liés)|commentaires|ähnliche|auch interessant|mehr (?:zum|aus|von)|meistgelesen|kommentare|leggi anche|potrebbe|commenti|correlati|lees ook|читайте|похожие|популярн|комментари|также|関連|おすすめ|人気|コメント|相关|推荐|热门|评论|관련|추천|인기|댓글/i

/** Separates words in camel case: `relatedPosts` becomes `related-Posts`. */
export function apart(names: string): string {
  return names.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1-')
}
